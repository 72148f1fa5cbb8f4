package replay_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
)

var seedFlag = flag.Uint64("seed", 0, "run only this seed of TestLanguage")

// state is one execution of a program.
type state struct {
	rng   *rand.Rand
	last  int // the newest signal received; they are numbered from 1
	names int
}

func (s *state) block(c ctx, depth int) {
	for range 2 + s.rng.IntN(4) {
		s.statement(c, depth)
	}
}

func (s *state) name() string {
	s.names++
	return fmt.Sprint("s", s.names)
}

func (s *state) statement(c ctx, depth int) {
	n := s.rng.IntN(20)
	if depth > 2 {
		n %= 5
	}
	switch n {
	case 0, 1:
		v, err := step(c, s.name())
		say(c, "step: %q, %v", v, err)
	case 2:
		say(c, "sleep: %v", workflow.Sleep(c, time.Duration(s.rng.IntN(5))*time.Second))
	case 3:
		v, ok, err := number.ReceiveTimeout(c, time.Duration(s.rng.IntN(5))*time.Second)
		if ok {
			s.got(v)
		}
		say(c, "signal: %d, %v, %v", v, ok, err)
	case 4, 5:
		s.choose(c)
	case 6:
		child, cancel := workflow.WithCancel(c)
		workflow.Go(c, func(c ctx) {
			_ = workflow.Sleep(c, 3*time.Second)
			cancel()
		})
		s.block(child, depth+1)
	case 7:
		child, cancel := workflow.WithTimeout(c, 2*time.Second)
		s.block(child, depth+1)
		cancel()
	case 8:
		s.block(workflow.Shield(c), depth+1)
	case 9:
		s.fanOut(c)
	case 10:
		_, err := workflow.Saga(c, func(c ctx, undo *workflow.Undo) (string, error) {
			undo.Push("undo "+s.name(), nil, nil)
			undo.Push("undo "+s.name(), nil, nil)
			return step(c, s.name())
		})
		say(c, "saga: %v", err)
	case 11:
		say(c, "draw: %d %s", workflow.Random(c).IntN(100), workflow.UUID(c))
	default:
		s.coordinate(c, n-12)
	}
}

func (s *state) fanOut(c ctx) {
	var wg workflow.WaitGroup
	for range 2 {
		// Each strand has its own randomness: the order in which they go on is the world's.
		own := &state{rng: rand.New(rand.NewPCG(s.rng.Uint64(), 3))}
		name := s.name()
		wg.Go(c, func(c ctx) {
			v, err := step(c, name)
			say(c, "strand: %q, %v, %d", v, err, own.rng.IntN(10))
			s.choose(c)
		})
	}
	say(c, "group: %v", wg.Wait(c))
}

// choose selects over a step, a timer that may be stopped, and signals, sometimes with a default.
func (s *state) choose(c ctx) {
	f, t := async(c, s.name()), workflow.NewTimer(c, time.Duration(s.rng.IntN(4))*time.Second)
	if s.rng.IntN(4) == 0 {
		say(c, "stopped: %v", t.Stop())
	}
	cases := []workflow.Case{
		workflow.OnFuture(f, func(v string, err error) { say(c, "future: %q, %v", v, err) }),
		workflow.OnSignal(number, s.got),
		workflow.OnTimer(t, nil),
	}
	s.rng.Shuffle(len(cases), func(i, k int) { cases[i], cases[k] = cases[k], cases[i] })
	if s.rng.IntN(4) == 0 {
		cases = append(cases, workflow.Default(nil))
	}
	i, err := workflow.Select(c, cases...)
	say(c, "chose %d, %v; stop: %v", i, err, t.Stop())
}

// got checks that signals come in order, each once.
func (s *state) got(v int) {
	if v != s.last+1 {
		panic(fmt.Sprintf("signal %d after %d", v, s.last))
	}
	s.last = v
}

// mutate tampers with a history.
func mutate(rng *rand.Rand, history []journal.Event) {
	ev := &history[rng.IntN(len(history))]
	switch rng.IntN(7) {
	case 0:
		ev.Kind = journal.Kind(rng.IntN(25))
	case 1:
		ev.Cmd += journal.Cmd(rng.IntN(5) - 2)
	case 2:
		ev.Name += "x"
	case 3:
		ev.Issued = append(ev.Issued, journal.Issued{Kind: journal.CommandStep, Name: "extra"})
	case 4:
		ev.Issued = nil
	case 5:
		ev.Payload = journal.Payload{Encoding: "other", Data: []byte("{")}
	case 6:
		ev.Seq, ev.Time = ev.Seq+1, ev.Time.Add(-time.Hour)
	}
}
