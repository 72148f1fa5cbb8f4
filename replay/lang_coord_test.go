package replay_test

import (
	"fmt"
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
)

// coordinate is a statement of a random program in which strands wait for each other.
func (s *state) coordinate(c ctx, n int) {
	switch n {
	case 0:
		s.channel(c)
	case 1:
		s.locks(c)
	case 2:
		s.await(c)
	case 3:
		s.promises(c)
	case 4:
		s.group(c)
	case 5:
		s.mapped(c)
	case 6:
		name, d := s.name(), s.seconds(4)
		i, v, err := workflow.Race(c,
			func(c ctx) (string, error) { return step(c, name) },
			func(c ctx) (string, error) { return "slept", workflow.Sleep(c, d) })
		say(c, "race: %d, %q, %v", i, v, err)
	case 7:
		ch := workflow.NewChannel[int](1, "")
		for range 2 {
			workflow.Go(c, func(c ctx) { say(c, "left behind: %v", ch.Send(c, 1)) })
		}
	}
}

func (s *state) seconds(n int) time.Duration { return time.Duration(s.rng.IntN(n)) * time.Second }

// channel sends values with pauses, and receives them with time limits until all have come.
func (s *state) channel(c ctx) {
	ch := workflow.NewChannel[int](s.rng.IntN(3), "c")
	pauses := [4]time.Duration{s.seconds(3), s.seconds(3), s.seconds(3), s.seconds(3)}
	workflow.Go(c, func(c ctx) {
		for i, d := range pauses {
			_ = workflow.Sleep(c, d)
			if i == 2 {
				_, err := workflow.Select(c, workflow.OnTimer(workflow.NewTimer(c, d), nil), workflow.OnSend(ch, i+1, nil))
				say(c, "sent or not: %v", err)
			} else if err := ch.Send(c, i+1); err != nil {
				say(c, "send: %v", err)
			}
		}
		ch.Close()
	})
	last := 0
	for open := true; open; {
		i, err := workflow.Select(c,
			workflow.OnTimer(workflow.NewTimer(c, s.seconds(4)), nil),
			workflow.OnSignal(number, s.got),
			workflow.OnReceive(ch, func(v int, ok bool) {
				if open = ok; ok && v <= last {
					panic(fmt.Sprintf("value %d after %d", v, last))
				}
				last = max(v, last)
			}))
		say(c, "received: %d, %v, %d", i, err, last)
		open = open && err == nil
	}
}

// locks has strands take turns.
func (s *state) locks(c ctx) {
	mu, sem := workflow.Mutex{Name: "m"}, workflow.NewSemaphore(2, "s")
	inside := 0
	var wg workflow.WaitGroup
	for range 3 {
		name, n := s.name(), 1+s.rng.IntN(2)
		wg.Go(c, func(c ctx) {
			if err := sem.Acquire(c, n); err != nil {
				say(c, "acquire: %v", err)
				return
			}
			defer sem.Release(n)
			if err := mu.Lock(c); err != nil {
				say(c, "lock: %v", err)
				return
			}
			defer mu.Unlock()
			if inside++; inside != 1 {
				panic("two strands have one mutex")
			}
			_, err := step(c, name)
			inside--
			say(c, "locked: %s, %v", name, err)
		})
	}
	say(c, "locks: %v", wg.Wait(c))
}

func (s *state) await(c ctx) {
	name, n := s.name(), 0
	for range 2 {
		workflow.Go(c, func(c ctx) { say(c, "condition: %v, %d", workflow.Await(c, func() bool { return n > 0 }), n) })
	}
	workflow.Go(c, func(c ctx) {
		_, err := step(c, name)
		say(c, "condition is set: %v", err)
		n++
	})
	met, err := workflow.AwaitTimeout(c, s.seconds(5), func() bool { return n > 0 || number.Pending(c) > 2 })
	say(c, "await: %v, %v, %d", met, err, n)
}

func (s *state) promises(c ctx) {
	p, name := workflow.NewPromise[string](), s.name()
	workflow.Go(c, func(c ctx) {
		if v, err := step(c, name); err != nil {
			p.Fail(err)
		} else {
			p.Resolve(v)
		}
	})
	fs := []workflow.Future[string]{p.Future(), async(c, s.name()), async(c, s.name())}
	s.rng.Shuffle(len(fs), func(i, k int) { fs[i], fs[k] = fs[k], fs[i] })
	i, v, err := workflow.First(c, fs...)
	say(c, "first: %d, %q, %v", i, v, err)
	if s.rng.IntN(2) == 0 {
		i, v, err = workflow.FirstSuccess(c, fs...)
		say(c, "first success: %d, %q, %v", i, v, err)
	}
	all, err := workflow.All(c, fs...)
	say(c, "all: %q, %v", all, err)
}

func (s *state) group(c ctx) {
	g, _ := workflow.NewGroup(c)
	g.SetLimit(s.rng.IntN(3))
	for range 3 {
		name := s.name()
		g.Go(func(c ctx) error {
			_, err := step(c, name)
			say(c, "member: %s, %v", name, err)
			return err
		})
	}
	say(c, "members: %v", g.Wait())
}

func (s *state) mapped(c ctx) {
	names := []string{s.name(), s.name(), s.name()}
	out, err := workflow.Map(c, names, step,
		&workflow.MapOptions{Limit: 1 + s.rng.IntN(3), Attempts: 1 + s.rng.IntN(2), Backoff: time.Second, CollectErrors: s.rng.IntN(2) == 0})
	say(c, "map: %q, %v", out, err)
}
