package workflow

import (
	"errors"
	"fmt"

	"github.com/reprise-run/reprise/replay"
)

// First waits until one of the futures has its outcome, and returns its index and what its Get
// would return. Of several that have one it takes the one listed first. It leaves the others as
// they are.
//
// Errors, with index -1: the scope's, if it is cancelled first; [ErrNothing] without futures.
func First[T any](ctx Context, futures ...Future[T]) (int, T, error) {
	var zero T
	e, err := enterFutures(ctx, futures)
	if err != nil {
		return -1, zero, err
	}
	i, err := awaitOne(ctx, futures, make([]bool, len(futures)))
	if err != nil {
		return -1, zero, err
	}
	v, err := futures[i].f.outcome(e)
	return i, v, err
}

// FirstSuccess waits until one of the futures has a value, and returns its index and the value.
// It leaves the others as they are.
//
// Errors, with index -1: those of all futures, joined in the order of the list, if all fail; the
// scope's, if it is cancelled first; [ErrNothing] without futures.
func FirstSuccess[T any](ctx Context, futures ...Future[T]) (int, T, error) {
	var zero T
	e, err := enterFutures(ctx, futures)
	if err != nil {
		return -1, zero, err
	}
	failed := make([]bool, len(futures))
	errs := make([]error, len(futures))
	for range futures {
		i, err := awaitOne(ctx, futures, failed)
		if err != nil {
			return -1, zero, err
		}
		v, err := futures[i].f.outcome(e)
		if err == nil {
			return i, v, nil
		}
		failed[i], errs[i] = true, err
	}
	return -1, zero, errors.Join(errs...)
}

// awaitOne waits for a future that is not to be skipped, and returns its index.
func awaitOne[T any](ctx Context, futures []Future[T], skip []bool) (int, error) {
	found := -1
	var conds []*replay.Cond
	for i, f := range futures {
		if !skip[i] && f.f.source != nil {
			conds = append(conds, f.f.source.Cond())
		}
	}
	err := ctx.scope.Await(func() bool {
		for i, f := range futures {
			if !skip[i] && f.f.resolved() {
				found = i
				return true
			}
		}
		return false
	}, conds...)
	return found, err
}

// All waits for all futures and returns their values in the order of the list. When one fails,
// All returns that error at once; the others go on. If the scope is cancelled it waits for each
// as Get does: steps that were asked to stop end first. Without futures it returns at once.
func All[T any](ctx Context, futures ...Future[T]) ([]T, error) {
	e, err := enterFutures(ctx, futures)
	if err != nil && err != ErrNothing {
		return nil, err
	}
	w := watch{watchers: make([]replay.Watcher, len(futures)), failed: -1}
	err = watchAll(ctx, &w, futures)
	for i := range w.watchers {
		w.watchers[i].Stop()
	}
	if err == nil && w.failed >= 0 {
		_, err = futures[w.failed].f.outcome(e)
		return nil, err
	}
	values := make([]T, len(futures))
	err = nil
	for i, f := range futures { // they have their outcomes, or the scope is cancelled: then Get knows what to wait for
		v, failed := f.Get(ctx)
		if values[i] = v; err == nil {
			err = failed
		}
	}
	if err != nil {
		return nil, err
	}
	return values, nil
}

// watch finds the future that fails first. Each future reports once. If the strand waited anew
// for all of them after each outcome, n futures would cost n² wake-ups.
type watch struct {
	watchers []replay.Watcher
	failed   int // -1 as long as none has
	cond     replay.Cond
}

// watchAll waits until one future has failed or all have their outcome.
func watchAll[T any](ctx Context, w *watch, futures []Future[T]) error {
	e := ctx.scope.Env()
	w.cond.Internal = true // it has no name: the futures have
	for i, f := range futures {
		f := f.f
		note := func() {
			if w.failed < 0 && f.failed() {
				w.failed = i
				e.Broadcast(&w.cond)
			}
		}
		if f.resolved() {
			note()
		} else {
			w.watchers[i].Watch(f.source.Cond(), note)
		}
	}
	for _, f := range futures {
		f := f.f
		if w.failed >= 0 {
			return nil
		}
		if f.resolved() {
			continue
		}
		if err := ctx.scope.Await(func() bool { return w.failed >= 0 || f.resolved() }, f.source.Cond(), &w.cond); err != nil {
			return err
		}
	}
	return nil
}

// enterFutures checks what a combinator is given.
func enterFutures[T any](ctx Context, futures []Future[T]) (*replay.Env, error) {
	e, err := ctx.inside()
	if err != nil {
		return nil, err
	}
	e.Poll()
	if len(futures) == 0 {
		return e, ErrNothing
	}
	for i, f := range futures {
		if f.f == nil {
			return nil, fmt.Errorf("future %d: a zero Future: %w", i, ErrOutside)
		}
		if err := f.f.bind(e); err != nil {
			return nil, fmt.Errorf("future %d: %w", i, err)
		}
	}
	return e, nil
}
