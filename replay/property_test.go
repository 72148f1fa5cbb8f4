package replay_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
)

var seedFlag = flag.Uint64("seed", 0, "run only this seed of the property test")

// TestRandomPrograms runs random programs against random events. Whatever the order of outcomes,
// firings, signals and cancel requests: a replay from every prefix reacts the same, and no
// signal is lost or read twice.
func TestRandomPrograms(t *testing.T) {
	if *seedFlag != 0 {
		runProgram(t, *seedFlag)
		return
	}
	for seed := uint64(1); seed <= 150; seed++ {
		if runProgram(t, seed); t.Failed() {
			t.Fatalf("replay it with -seed %d", seed)
		}
	}
}

func runProgram(t *testing.T, seed uint64) {
	t.Helper()
	p := &program{seed: seed}
	def := define(func(c ctx) (string, error) { return "", p.run(c) })
	r := newRig(def)
	defer r.m.Close()
	w := &world{r: r, rng: rand.New(rand.NewPCG(seed, 2)), now: epoch}
	mustStep(t, r, started())
	for range 60 {
		if r.m.Finished() {
			break
		}
		if err := w.event(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	if r.m.Finished() && p.seen != w.signals {
		t.Errorf("seed %d: %d signals sent, %d seen", seed, w.signals, p.seen)
	}
	if d := r.m.Take(); d.Terminal != nil {
		ev := *d.Terminal
		ev.Time = w.now
		mustStep(t, r, ev)
	}
	checkPrefixes(t, def, r.history)
}

// world makes random events that the machine can take.
type world struct {
	r     *rig
	rng   *rand.Rand
	now   time.Time
	inbox journal.InboxSeq

	signals int
}

func (w *world) event() error {
	w.now = w.now.Add(time.Duration(w.rng.IntN(3)) * time.Second)
	ev := journal.Event{Time: w.now}
	steps := w.r.m.Pending()
	timer, armed := w.r.m.NextTimer()
	switch n := w.rng.IntN(20); {
	case n < 10 && len(steps) > 0:
		s := steps[w.rng.IntN(len(steps))]
		ev.Kind, ev.Cmd, ev.Name, ev.Attempt = journal.StepCompleted, s.Cmd, s.Name, 1
		if ev.Payload.Data = fmt.Appendf(nil, "%q", s.Name); strings.HasPrefix(s.Name, "undo") {
			ev.Payload.Data = []byte("{}")
		}
		if s.Cancelled || n < 3 {
			ev.Kind, ev.Payload = journal.StepFailed, failure([]string{"cancelled", "*errors.errorString"}[n%2], "no")
		}
	case n < 14 && armed:
		if timer.Due.After(w.now) {
			w.now = timer.Due
		}
		ev.Kind, ev.Cmd, ev.Name, ev.Time = journal.TimerFired, timer.Cmd, timer.Name, w.now
	case n == 14 && w.inbox > 5:
		w.inbox++
		ev.Kind, ev.Inbox = journal.CancelRequested, w.inbox
	default:
		w.inbox++
		ev.Kind, ev.Inbox, ev.Name = journal.SignalReceived, w.inbox, "number"
		w.signals++
		ev.Payload.Data = fmt.Append(nil, w.signals)
	}
	_, err := w.r.step(ev)
	return err
}

// program is random code: a function of its seed and of what its awaits return.
type program struct {
	seed uint64
	seen int // signals received and pending when it ended
}

// state is one execution of a program.
type state struct {
	rng   *rand.Rand
	last  int // the newest signal received; they are numbered from 1
	names int
}

func (p *program) run(c ctx) error {
	s := &state{rng: rand.New(rand.NewPCG(p.seed, 1))}
	s.block(c, 0)
	p.seen = s.last + number.Pending(c)
	return c.Err()
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

// TestMutatedHistory: a history that was tampered with is refused or taken, but never panics.
func TestMutatedHistory(t *testing.T) {
	for seed := uint64(1); seed <= 200; seed++ {
		p := &program{seed: seed}
		def := define(func(c ctx) (string, error) { return "", p.run(c) })
		r := newRig(def)
		w := &world{r: r, rng: rand.New(rand.NewPCG(seed, 2)), now: epoch}
		mustStep(t, r, started())
		for range 20 {
			if !r.m.Finished() {
				if err := w.event(); err != nil {
					t.Fatal(err)
				}
			}
		}
		r.m.Close()
		mutate(w.rng, r.history)
		again := newRig(def)
		for i := range r.history {
			if again.m.Replay(&r.history[i]) != nil {
				break
			}
		}
		again.m.Close()
	}
}

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
