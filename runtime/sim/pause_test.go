package sim

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/runtime"
)

// pauses adds pauses to a plan. They come from a generator of their own, as troubles do.
func (p *plan) pauses() {
	m := &maker{Rand: rand.New(rand.NewPCG(p.Seed, 0x9a5e))}
	if m.IntN(2) == 0 {
		return
	}
	for i := range p.Runs {
		r := &p.Runs[i]
		walk(r.Program, func(in *instr) { in.Sort.Waits = in.exhausts() > 0 && m.IntN(2) == 0 })
		for range m.IntN(4) {
			s := send{At: m.between(0, 9*time.Second), Do: sendPause, Pause: pausePlan{For: m.between(0, 2*time.Second), Interrupt: m.IntN(3) == 0}}
			if m.IntN(2) == 0 {
				s.Pause.Nth = 1 + int(m.between(0, 12))
			}
			r.Sends = append(r.Sends, s)
		}
		slices.SortStableFunc(r.Sends, func(a, b send) int { return cmp.Compare(a.At, b.At) })
	}
}

// exhaustedFor is how long a run is on hold that a step of its own has paused.
const exhaustedFor = 200 * time.Millisecond

// walk visits the instructions of a program, those of its children and further generations among
// them.
func walk(body []instr, visit func(*instr)) {
	for i := range body {
		visit(&body[i])
		walk(body[i].Body, visit)
	}
}

// pausedMax is how long all pauses of a run take together, at most, once somebody answers them.
func (p *plan) pausedMax() (longest time.Duration) {
	for i := range p.Runs {
		var sum time.Duration
		walk(p.Runs[i].Program, func(in *instr) {
			if in.Sort.Waits {
				sum += time.Duration(in.exhausts()) * (exhaustedFor + p.Poll)
			}
		})
		for _, s := range p.Runs[i].Sends {
			sum += s.Pause.For
		}
		longest = max(longest, sum)
	}
	return longest
}

// isPaused tells whether the plan pauses the run at some time.
func (r *runPlan) isPaused() bool {
	return slices.ContainsFunc(r.Sends, func(s send) bool { return s.Do == sendPause })
}

// pause pauses a run and resumes it later. J11 is checked where steps begin.
func (w *world) pause(r *running, s *send) {
	client := w.clients[0].client
	paused := w.insist("pause", func(ctx context.Context) error {
		err := client.Pause(ctx, w.idOf(r), &runtime.PauseOptions{Reason: "by plan", CancelSteps: s.Pause.Interrupt})
		if err != nil && strings.Contains(err.Error(), "somebody has resumed it") { // another pause of the plan has ended
			return nil
		}
		return err
	})
	if paused {
		w.resumeAfter(r, s.Pause.For)
	}
}

func (w *world) resumeAfter(r *running, d time.Duration) {
	time.Sleep(d)
	w.insist("resume", func(ctx context.Context) error { return w.clients[0].client.Resume(ctx, w.idOf(r)) })
}

// pauseBeside carries out the pauses that come with a commit, before it or after it. The tape is
// locked.
func (w *world) pauseBeside(commits []driver.Commit, after bool) {
	for i := range commits {
		w.mu.Lock()
		r := w.run(commits[i].Run)
		w.mu.Unlock()
		if r == nil || r.of != 0 || r.fork != 0 {
			continue
		}
		n := len(w.tape.commitsOf(r.id))
		w.backBeside(r, n, after)
		for k := range r.plan.Sends {
			s := &r.plan.Sends[k]
			if s.Do != sendPause || s.Pause.Nth == 0 || s.Pause.Nth != n+1 && !after || s.Pause.Nth != n && after || k%2 == 0 == after {
				continue
			}
			a := driver.AdminAction{Run: r.id, Kind: driver.AdminPause, Actor: "plan"}
			if s.Pause.Interrupt {
				a.Kind = driver.AdminInterrupt
			}
			if _, err := w.admin(context.Background(), w.db, a); err == nil {
				w.mu.Lock()
				w.pausedBeside++
				w.mu.Unlock()
				w.drivers.Go(func() { w.resumeAfter(r, s.Pause.For) })
			}
		}
	}
}

// exhausted checks J12 of a commit that pauses its run, which had so many entries before, and
// resumes the run later. The tape is locked.
func (w *world) exhausted(c *driver.Commit, rows int) {
	list, err := w.db.Audit(context.Background(), journal.AuditFilter{Run: c.Run, Limit: journal.ListMax})
	if err != nil || len(list) != rows+1 || list[0].Actor != journal.ActorRuntime || list[0].Reason != c.Pause {
		w.breaks("audit", "run %s has paused itself (%s), and %d entries have become %+v, %v (J12)", w.number(c.Run), c.Pause, rows, list, err)
	}
	w.mu.Lock()
	w.pausedSelf++
	w.mu.Unlock()
	w.drivers.Go(func() {
		time.Sleep(exhaustedFor)
		w.insist("resume", func(ctx context.Context) error {
			err := w.clients[0].client.Resume(ctx, c.Run)
			if errors.Is(err, journal.ErrNotFound) { // it was born after the moment to which the database has gone back
				return nil
			}
			return err
		})
	})
}

// resumeLost resumes what is on hold because the database has gone back behind a resume that its
// operator had an answer to.
func (w *world) resumeLost() {
	if w.now() == 0 {
		return
	}
	w.resumeLostScopes()
	for _, run := range w.open() {
		if run.Task.State.OnHold() {
			_, _ = w.db.Admin(context.Background(), driver.AdminAction{Run: run.ID, Kind: driver.AdminResume})
		}
	}
}

// thawFor is how long a process takes to find out how long it was frozen.
const thawFor = time.Second

// thawed tells whether a process is frozen, or was a moment ago.
func (w *world) thawed(name string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.IndexFunc(w.all, func(p *process) bool { return p.name == name })
	return i >= 0 && slices.ContainsFunc(w.plan.Faults, func(f fault) bool {
		now := w.elapsed()
		return f.Kind == freeze && f.Node == w.all[i].place && now >= f.At && now < f.At+f.For+thawFor
	})
}

// beginsPaused checks J11 when a step begins: its run is not paused. A database that goes back may take a
// resume with it, of which the run's owner does not know. A step of a branch is none of the run any
// more: it ends as that of a run does that was terminated, when its node hears of it. Nor does a
// process count that was frozen a moment ago: it goes on where it stood, and has yet to see that its
// lease is over.
func (w *world) beginsPaused(e *execution, task *journal.Task) {
	if task != nil && task.State == journal.Paused && task.Generation == e.gen && w.now() == 0 && !w.thawed(e.process) {
		w.breaks("paused", "step %s of run %s begins on %s, and the run is paused: %+v (J11)", e.step, w.number(e.run), e.process, *task)
	}
}
