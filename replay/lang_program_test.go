package replay_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/replay/workflow"
)

const (
	langName  workflow.Name[langInput, string] = "language"
	langKid   workflow.Name[int, string]       = "kid"
	langNoise workflow.Signal[int]             = "noise" // nobody receives it
	langAdd   workflow.Update[int, int]        = "add"
	langState workflow.Query[int, string]      = "state"
)

// langInput is what a generation knows of the one before.
type langInput struct{ Generation, Last int }

var langModes = []workflow.CancelMode{workflow.WaitOutcome, workflow.TryCancel, workflow.Abandon}

// langWords name the modes. A model of the machine finds them in names of steps and children.
var langWords = []string{"wait", "try", "abandon"}

// langProgram returns code that is a function of its seed and of what its verbs return. It uses all
// verbs.
func langProgram(seed uint64) *replay.Definition {
	return workflow.Define(langName, 1, func(c ctx, in langInput) (string, error) {
		p := &language{state: state{rng: rand.New(rand.NewPCG(seed, uint64(in.Generation))), last: in.Last}}
		return p.run(c, in)
	})
}

// language is one execution of such a program.
type language struct {
	state
	total  int
	kids   []workflow.RunID
	tired  bool // ShouldContinue said so
	values int
}

func label(c ctx, key, value string) { c.Info().Labels[key] = value }

func (p *language) run(c ctx, in langInput) (string, error) {
	langState.Handle(c, func(arg int) (string, error) {
		if arg == 1 {
			return "", workflow.Sleep(c, time.Second) // refused
		}
		return fmt.Sprint(p.last, p.total, p.names, langNoise.Pending(c)), nil
	})
	langAdd.Handle(c, p.add, &workflow.UpdateOptions[int]{Validate: func(n int) error {
		if n%5 == 4 {
			return errors.New("not this one")
		}
		return nil
	}})
	p.all(c, 0)
	var handlers error = errors.New("not waited for")
	if p.rng.IntN(2) == 0 {
		handlers = workflow.HandlersFinished(c)
	}
	label(c, "handlers", fmt.Sprint(handlers))
	label(c, "last", fmt.Sprint(p.last))
	label(c, "seen", fmt.Sprint(p.last+number.Pending(c)))
	if in.Generation < 3 && (p.tired || p.rng.IntN(3) == 0) {
		label(c, "end", "RunContinued")
		return "", workflow.ContinueAsNew(c, langName, langInput{in.Generation + 1, p.last}, nil)
	}
	switch err := c.Err(); {
	case err != nil:
		label(c, "end", "RunCancelled")
		return "", err
	case p.rng.IntN(4) == 0:
		label(c, "end", "RunFailed")
		return "", errors.New("failed")
	}
	label(c, "end", "RunCompleted")
	return "done", nil
}

// add is the update's handler. It takes what it does from its argument: the program's randomness is
// for the program.
func (p *language) add(c ctx, n int) (int, error) {
	var err error
	switch n % 5 {
	case 1:
		_, err = step(c, "update/wait")
	case 2:
		err = workflow.Sleep(c, 2*time.Second)
	case 3:
		_, err = workflow.Call(c, langKid, n, nil)
	}
	p.total += n
	say(c, "update %d: %v", n, err)
	return p.total, err
}

func (p *language) all(c ctx, depth int) {
	for range 2 + p.rng.IntN(3) {
		p.verb(c, depth)
	}
}

func (p *language) verb(c ctx, depth int) {
	n := p.rng.IntN(17)
	if depth > 1 {
		n %= 9
	}
	switch n {
	case 0, 1:
		v, err := p.async(c).Get(c)
		say(c, "step: %q, %v", v, err)
	case 2:
		v, ok, err := number.ReceiveTimeout(c, time.Duration(p.rng.IntN(5))*time.Second)
		if ok {
			p.got(v)
		}
		say(c, "signal: %d, %v, %v", v, ok, err)
	case 3:
		kid := p.kid(c)
		v, err := kid.Get(c)
		say(c, "kid %s: %q, %v", kid.ID(), v, err)
	case 4:
		p.send(c)
	case 5:
		p.record(c)
	case 6:
		say(c, "change: %v", workflow.Changed(c, fmt.Sprint("c", p.rng.IntN(3))))
	case 7:
		for range 2 {
			scope := workflow.ChangeScope(c)
			say(c, "change in a loop: %v %v", workflow.Changed(scope, "loop"), workflow.Changed(scope, "loop"))
		}
	case 8:
		p.tired = p.tired || c.ShouldContinue()
	case 9:
		p.atOnce(c)
	case 10:
		p.fleeting(c, depth)
	case 11:
		p.all(workflow.Shield(c), depth+1)
	case 12:
		p.crowd(c, depth)
	case 13:
		p.pick(c)
	case 14:
		want := p.total + 1
		ok, err := workflow.AwaitTimeout(c, 3*time.Second, func() bool { return p.total >= want })
		say(c, "condition: %v, %v", ok, err)
	case 15:
		p.pipe(c)
	case 16:
		p.block(c, depth+1)
	}
}

func (p *language) async(c ctx) workflow.Future[string] {
	mode := p.rng.IntN(len(langModes))
	name := p.name() + "/" + langWords[mode]
	return asyncMode(c, name, langModes[mode])
}

func (p *language) kid(c ctx) workflow.Child[string] {
	mode := p.rng.IntN(len(langModes))
	o := &workflow.ChildOptions{OnCancel: langModes[mode], Labels: map[string]string{"of": p.name()}}
	if p.rng.IntN(4) == 0 {
		o.Key = fmt.Sprint("key ", p.names)
	}
	kid := workflow.CallAsync(c, langKid+"/"+workflow.Name[int, string](langWords[mode]), p.names, o)
	if kid.ID() != (workflow.RunID{}) {
		p.kids = append(p.kids, kid.ID())
	}
	return kid
}

// send signals or cancels a child, or somebody else, and waits for the answer or does not.
func (p *language) send(c ctx) {
	to := workflow.RunID{9}
	if len(p.kids) > 0 && p.rng.IntN(3) > 0 {
		to = p.kids[p.rng.IntN(len(p.kids))]
	}
	switch p.rng.IntN(4) {
	case 0:
		say(c, "cancel: %v", workflow.CancelRun(c, to, "enough"))
	case 1:
		number.SendAsync(c, to, 1)
		say(c, "two signals: %v", number.Send(c, to, 2))
	case 2:
		number.SendAsync(c, to, 1)
	case 3:
		say(c, "signal sent: %v", number.Send(c, to, 3))
	}
}

// record takes values that are others while history is replayed.
func (p *language) record(c ctx) {
	p.values++
	salt := func() string { return c.Info().Labels["salt"] }
	if p.rng.IntN(2) == 0 {
		say(c, "value: %s", workflow.SideEffect(c, "value", func() string { return salt() + fmt.Sprint(p.values) }))
		return
	}
	v := workflow.SideEffectIfChanged(c, "config", func() string { return salt() + fmt.Sprint(p.values/2) },
		func(a, b string) bool { return a == b })
	say(c, "config: %s", v)
}

// atOnce cancels what was asked for in the same turn, a step or a child, and sometimes waits for
// it.
func (p *language) atOnce(c ctx) {
	child, cancel := workflow.WithCancel(c)
	var f workflow.Future[string]
	if p.rng.IntN(2) == 0 {
		f = p.async(child)
	} else {
		kid := p.kid(child)
		if f = kid.Future; p.rng.IntN(2) == 0 {
			say(c, "cancelled: %v %v", kid.Cancel(), kid.Cancel())
		}
	}
	cancel()
	if p.rng.IntN(2) == 0 {
		v, err := f.Get(c)
		say(c, "at once: %q, %v", v, err)
	}
}

// fleeting runs code in a scope that ends early, by its time or by another strand.
func (p *language) fleeting(c ctx, depth int) {
	if p.rng.IntN(2) == 0 {
		child, cancel := workflow.WithTimeout(c, 2*time.Second)
		p.all(child, depth+1)
		cancel()
		return
	}
	child, cancel := workflow.WithCancel(c)
	workflow.Go(c, func(c ctx) {
		_ = workflow.Sleep(c, time.Second)
		cancel()
	})
	p.all(child, depth+1)
}

func (p *language) crowd(c ctx, depth int) {
	group, c2 := workflow.NewGroup(c)
	for range 2 {
		group.Go(func(c ctx) error {
			p.all(c, depth+1)
			if p.rng.IntN(3) == 0 {
				return errors.New("no")
			}
			return nil
		})
	}
	say(c, "group: %v, %v", group.Wait(), c2.Err())
}

// pick selects over everything that can be waited for.
func (p *language) pick(c ctx) {
	timer := workflow.NewTimer(c, time.Duration(p.rng.IntN(4))*time.Second)
	kid, f := p.kid(c), p.async(c)
	i, err := workflow.Select(c,
		workflow.OnFuture(kid.Future, func(v string, err error) { say(c, "kid: %q, %v", v, err) }),
		workflow.OnFuture(f, func(v string, err error) { say(c, "step: %q, %v", v, err) }),
		workflow.OnSignal(number, p.got),
		workflow.OnTimer(timer, nil),
	)
	say(c, "picked %d, %v; stop %v; cancel %v", i, err, timer.Stop(), kid.Cancel())
}

func (p *language) pipe(c ctx) {
	ch := workflow.NewChannel[string](p.rng.IntN(2), "pipe")
	workflow.Go(c, func(c ctx) {
		defer ch.Close()
		for range 2 {
			if v, err := p.async(c).Get(c); ch.Send(c, v) != nil || err != nil {
				return
			}
		}
	})
	for {
		v, ok, err := ch.Receive(c)
		if say(c, "pipe: %q, %v, %v", v, ok, err); !ok || err != nil {
			return
		}
	}
}
