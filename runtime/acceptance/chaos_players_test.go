package acceptance_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

func (p *player) key(what string) string { return fmt.Sprintf("%s/%s/%d", p.name, what, p.round) }

// playHouse lets a family of three levels add up numbers.
func (p *player) playHouse() error {
	first := 1 + p.random.IntN(100)
	run, err := runtime.Start(p.ctx, p.client, house, first, &runtime.StartOptions{Key: p.key("house")})
	if err != nil {
		return err
	}
	return wants(p.ctx, run, wantOfHouse(first))
}

// playRivals lets several parents start a child with one key.
func (p *player) playRivals() error {
	var runs []*runtime.Run[int]
	for range 3 {
		run, err := runtime.Start(p.ctx, p.client, rival, p.key("child"), nil)
		if err != nil {
			return err
		}
		runs = append(runs, run)
	}
	sum := 0
	for _, run := range runs {
		got, err := run.Result(p.ctx)
		if err != nil {
			return err
		}
		sum += got
	}
	if sum != 1 {
		return fmt.Errorf("%d rivals got the child", sum)
	}
	return nil
}

// playLandlord ends a family by its close policies and releases the abandoned runs, level by level.
func (p *player) playLandlord() error {
	end := []ending{endCompleted, endFailed, endCancelled, endTerminated, endContinued}[p.random.IntN(5)]
	run, err := runtime.Start(p.ctx, p.client, landlord, end, nil)
	if err != nil {
		return err
	}
	if end == endCancelled || end == endTerminated {
		if err := p.settled(run.ID()); err != nil {
			return err
		}
	}
	switch end {
	case endCancelled:
		err = p.client.Cancel(p.ctx, run.ID(), "moving out")
	case endTerminated:
		err = p.available(func() error { return p.client.Terminate(p.ctx, run.ID(), "condemned") })
		if errors.Is(err, journal.ErrClosed) {
			err = nil // by a call whose answer was lost
		}
	}
	if err != nil {
		return err
	}
	_, err = run.Result(p.ctx)
	if !endedAs(end, err) {
		return fmt.Errorf("landlord %s, %s: %w", run.ID(), end, err)
	}
	return p.release(run.ID())
}

func endedAs(end ending, err error) bool {
	ok := err == nil
	switch end {
	case endFailed:
		_, ok = errors.AsType[*runtime.FailedError](err)
	case endCancelled:
		ok = errors.Is(err, workflow.ErrCancelled)
	case endTerminated:
		_, ok = errors.AsType[*runtime.TerminatedError](err)
	}
	return ok
}

// settled waits until a landlord has marked that everybody has moved in.
func (p *player) settled(run journal.RunID) error {
	for p.ctx.Err() == nil {
		events, err := p.client.History(p.ctx, run)
		if err != nil && !errors.Is(err, journal.ErrUnavailable) {
			return err
		}
		if slices.ContainsFunc(events, func(e journal.Event) bool { return e.Kind == journal.StepCompleted && e.Name == "settled 1" }) {
			return nil
		}
		rest(p.ctx, p.random)
	}
	return fmt.Errorf("run %s does not settle: %w", run, p.ctx.Err())
}

// release lets the abandoned children of a closed run end, and their children, and waits for the
// others to end.
func (p *player) release(parent journal.RunID) error {
	var page journal.RunPage
	err := p.available(func() (err error) {
		page, err = p.client.List(p.ctx, journal.ListFilter{Parent: parent})
		return err
	})
	if err != nil {
		return err
	}
	for i := range page.Runs {
		child := &page.Runs[i]
		policy, run := child.Parent.Policy, runtime.RunOf(p.client, tenant, child.ID)
		if policy == journal.CloseAbandon {
			if err := runtime.Signal(p.ctx, p.client, child.ID, released, 0, nil); err != nil {
				return err
			}
		}
		_, err := run.Result(p.ctx)
		how := map[journal.ClosePolicy]ending{
			journal.CloseCancel: endCancelled, journal.CloseTerminate: endTerminated, journal.CloseAbandon: endCompleted,
		}[policy]
		if !endedAs(how, err) {
			return fmt.Errorf("tenant %s of policy %d: %w", child.ID, policy, err)
		}
		if err := p.release(child.ID); err != nil {
			return err
		}
	}
	return nil
}

// visit is what clients do at one desk, and the run that it turned out to be.
type visit struct {
	*player
	mu     sync.Mutex
	run    journal.RunID
	posted []int // that were acknowledged
}

// playDesk lets clients send numbered signals, updates and queries to one desk at once.
func (p *player) playDesk() error {
	v := &visit{player: p}
	begin := ledgers{Got: make([]int, deskSenders)}
	so := &runtime.StartOptions{Key: p.key("desk")}
	var errs [6]error
	var arrived, done sync.WaitGroup
	visitor := func(i int, random *rand.Rand, work func(*rand.Rand) error) {
		done.Go(func() { errs[i] = work(random) })
	}
	fork := func() *rand.Rand { return rand.New(rand.NewPCG(p.random.Uint64(), 0)) }
	for from := range deskSenders - 1 {
		arrived.Add(1)
		visitor(from, fork(), func(r *rand.Rand) error {
			err := v.arrive(r, begin, so, from)
			arrived.Done()
			if err != nil {
				return err
			}
			return v.signals(r, from)
		})
	}
	arrived.Wait()
	if v.run == (journal.RunID{}) {
		done.Wait()
		return errors.Join(errs[:]...)
	}
	asking, stop := context.WithCancel(p.ctx)
	defer stop()
	asker, r := make(chan error, 1), fork()
	go func() { asker <- v.ask(asking, r) }()
	for i := range 2 {
		visitor(2+i, fork(), func(r *rand.Rand) error { return v.posts(r, 1+i*1000, 12) })
	}
	done.Wait()
	if err := errors.Join(errs[:]...); err != nil {
		stop()
		return errors.Join(err, <-asker)
	}
	visitor(4, fork(), func(r *rand.Rand) error { return v.postsUntilClosed(r, 5001) })
	errs[5] = runtime.Signal(p.ctx, p.client, v.run, fin, 0, nil)
	done.Wait()
	stop()
	return errors.Join(errors.Join(errs[:]...), <-asker, v.check())
}

// arrive sends the first signal of a sender, with the start of the desk if there is none.
func (v *visit) arrive(r *rand.Rand, begin ledgers, so *runtime.StartOptions, from int) error {
	return insist(v.ctx, r, func(ctx context.Context) error {
		run, err := runtime.SignalWithStart(ctx, v.client, desk, begin, dated, deskSenders+from, so, &runtime.SignalOptions{Key: fmt.Sprint(from, " first")})
		if err != nil {
			return err
		}
		v.mu.Lock()
		defer v.mu.Unlock()
		if v.run != (journal.RunID{}) && v.run != run.ID() {
			return fmt.Errorf("there are two desks, %s and %s", v.run, run.ID())
		}
		v.run = run.ID()
		return nil
	})
}

func (v *visit) signals(r *rand.Rand, from int) error {
	for i := 2; i <= deskEach; i++ {
		err := insist(v.ctx, r, func(ctx context.Context) error {
			o := &runtime.SignalOptions{Key: fmt.Sprint(from, "/", i)}
			return runtime.Signal(ctx, v.client, v.run, dated, i*deskSenders+from, o)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// post sends an update. A refused update gives its key back.
func (v *visit) post(r *rand.Rand, value int) error {
	tries := 0
	call := func(arg int) (got int, err error) {
		tries = 0
		err = insist(v.ctx, r, func(ctx context.Context) (err error) {
			tries++
			got, err = runtime.CallUpdate(ctx, v.client, v.run, post, arg, &runtime.UpdateOptions{Key: fmt.Sprint("post ", value)})
			return err
		})
		return got, err
	}
	// A try of the bad post that was given up may arrive behind the rejection, and takes the key
	// again until it is rejected too.
	late := 0
	if r.IntN(4) == 0 {
		if _, err := call(-value); !errors.Is(err, runtime.ErrRejected) {
			return fmt.Errorf("a bad post was not rejected: %w", err)
		}
		late = tries - 1
	}
	got, err := call(value)
	for ; late > 0 && errors.Is(err, runtime.ErrRejected); late-- {
		got, err = call(value)
	}
	if err != nil {
		return err
	}
	if got != value+1 {
		return fmt.Errorf("the answer to %d is %d", value, got)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.posted = append(v.posted, value)
	return nil
}

func (v *visit) posts(r *rand.Rand, first, n int) error {
	for i := range n {
		if err := v.post(r, first+i); err != nil {
			return err
		}
	}
	return nil
}

// postsUntilClosed posts while the desk closes.
func (v *visit) postsUntilClosed(r *rand.Rand, first int) error {
	for value := first; ; value++ {
		if err := v.post(r, value); err != nil {
			if errors.Is(err, journal.ErrClosed) {
				return nil
			}
			return err
		}
	}
}

func (v *visit) acknowledged() []int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.posted)
}

// ask queries the desk: its counts never decrease, and everything acknowledged is there.
func (v *visit) ask(ctx context.Context, r *rand.Rand) error {
	last := make([]int, deskSenders)
	for {
		posted := v.acknowledged()
		l, err := runtime.Query(ctx, v.asked, v.run, peek, 0)
		_, undecided := errors.AsType[*replay.UndecidedError](err)
		switch {
		case ctx.Err() != nil:
			return nil
		case undecided: // nobody is there to begin the run, which would start a child
			rest(ctx, r)
			continue
		case errors.Is(err, journal.ErrUnavailable):
			continue
		case err != nil:
			return err
		}
		for from := range last {
			if l.Got[from] < last[from] {
				return fmt.Errorf("run %s was asked twice: %v before %v", v.run, last, l.Got)
			}
		}
		last = l.Got
		for _, value := range posted {
			if !slices.Contains(l.Posts, value) {
				return fmt.Errorf("run %s was asked about posts: %v, but %d was acknowledged", v.run, l.Posts, value)
			}
		}
		rest(ctx, r)
	}
}

// check compares the ledger of the desk with what the clients know.
func (v *visit) check() error {
	l, err := runtime.RunOf(v.client, desk, v.run).Result(v.ctx)
	if err != nil {
		return err
	}
	posts := slices.Sorted(slices.Values(l.Posts))
	if posted := slices.Sorted(slices.Values(v.acknowledged())); !slices.Equal(posts, posted) || !l.complete() {
		return fmt.Errorf("desk %s has received %v and posted %v; acknowledged were %v", v.run, l.Got, posts, posted)
	}
	return nil
}
