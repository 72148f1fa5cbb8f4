// Package intercept calls interceptors around what they intercept. It holds the rules that are the
// same for calls of clients, for workflows and for steps.
package intercept

import (
	"fmt"

	"github.com/reprise-run/reprise/internal/goroutine"
)

// Layer is one interceptor. C is what it gets and passes on: a kind of context.
type Layer[C any] struct {
	Name string // for errors: its function and line
	Call func(ctx C, next func(C) error) error
}

// Chain has interceptors around things of one sort, the outermost first. It is not changed after it
// was made, and may be used by many goroutines. The zero Chain has no interceptors.
//
// The outcome of what is intercepted is more than an error: an output, the id of a run.
// Interceptors never see it, so they cannot make one up. From that follow the rules, which Do
// enforces:
//
//   - Do returns nil only if what is intercepted was called, once, and returned nil. An interceptor
//     that returns nil otherwise has made a mistake, and Do returns an error that names it.
//   - Any other error of an interceptor is what Do returns, whether next was called or not.
//   - A second call of next does nothing and returns an error.
//   - next does nothing on another goroutine than the interceptor's, or when the interceptor has
//     returned. So what is intercepted has returned when Do returns, and whoever lent it something
//     (a transaction, a slot) may take it back. It also makes the state here safe without a lock:
//     what other goroutines read of it is not changed.
type Chain[C any] struct {
	What   string // what its interceptors are called in errors, such as "step interceptor"
	Own    string // what next must not leave: "goroutine", or "strand" where goroutines have that name
	Wrong  error  // what the errors about mistakes match
	Layers []Layer[C]
}

// Do calls do with the interceptors around it.
func (c *Chain[C]) Do(ctx C, do func(C) error) error { return c.from(0, ctx, do) }

func (c *Chain[C]) from(layer int, ctx C, do func(C) error) error {
	if layer == len(c.Layers) {
		return do(ctx)
	}
	n := &next[C]{chain: c, layer: layer, do: do, owner: goroutine.ID()}
	defer func() { n.state = over }() // also after a panic
	return n.outcome(c.Layers[layer].Call(ctx, n.call))
}

// next is what is left to do when an interceptor calls next. All but owner is the owner's.
type next[C any] struct {
	chain *Chain[C]
	layer int
	do    func(C) error
	owner int64 // the interceptor's goroutine
	state state
	err   error // what the call came to
}

type state int

const (
	ready    state = iota // next was not called
	inside                // it was, and has not returned: it panicked, if the interceptor has
	returned              // it was, and has returned
	over                  // the interceptor has ended
)

func (n *next[C]) call(ctx C) error {
	if goroutine.ID() != n.owner {
		return n.mistake(fmt.Sprintf("it called next on another %s; call it on the interceptor's own", n.chain.Own), nil)
	}
	switch n.state {
	case ready:
		n.state = inside
		n.err = n.chain.from(n.layer+1, ctx, n.do)
		n.state = returned
		return n.err
	case over:
		return n.mistake("it called next after it had returned", nil)
	}
	return n.mistake("it called next a second time; nothing was done", n.err)
}

// outcome is what the interceptor's error means.
func (n *next[C]) outcome(err error) error {
	switch {
	case err != nil:
		return err
	case n.state == ready:
		return n.mistake("it returned nil without calling next, so there is no outcome; call next, or return an error to refuse", nil)
	case n.state == inside:
		return n.mistake("it recovered from a panic and returned nil; return an error", nil)
	case n.err != nil:
		return n.mistake("it returned nil although next had failed; return that error or another one", n.err)
	}
	return nil
}

// mistake is the error about an interceptor that breaks a rule. It wraps what next had returned,
// nil for nothing.
func (n *next[C]) mistake(text string, failed error) error {
	c := n.chain
	if failed != nil {
		return fmt.Errorf("%s %s: %w: %s: %w", c.What, c.Layers[n.layer].Name, c.Wrong, text, failed)
	}
	return fmt.Errorf("%s %s: %w: %s", c.What, c.Layers[n.layer].Name, c.Wrong, text)
}
