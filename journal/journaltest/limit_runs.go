package journaltest

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// limited starts runs that need limits, each with a key of its own: the number of the start.
func limited(k *kit, n int, needs ...journal.LimitNeed) (runs []journal.RunID) {
	k.t.Helper()
	for range n {
		runs = append(runs, k.starts(journal.Start{Limits: needs})[0].Run)
	}
	return runs
}

// takeIn lets a node take in what has come of runs, until there is nothing more, and tells how many
// may begin.
func takeIn(n *limiter) (begun int) {
	n.k.t.Helper()
	for look := []driver.LimitKey(nil); ; {
		a := n.round(driver.LimitRound{Runs: true, Look: look})
		begun += a.Runs
		if look = a.Again; !a.More && len(look) == 0 {
			return begun
		}
	}
}

// claimsOf are the claims of a run, as it is known.
func claimsOf(k *kit, run journal.RunID) []journal.LimitClaim {
	k.t.Helper()
	page, err := k.j.Limits(k.ctx, journal.LimitFilter{Run: run, Claims: 100})
	k.ok(err)
	return page.Claims
}

// linesAre expects what lines say: name, key, held and waiting.
func linesAre(k *kit, what string, want ...journal.LimitUse) {
	k.t.Helper()
	page, err := k.j.Limits(k.ctx, journal.LimitFilter{Uses: 100})
	k.ok(err)
	for i := range page.Uses {
		page.Uses[i].NextAt = time.Time{}
	}
	k.same("lines "+what, page.Uses, want)
}

// Of three runs one begins. It holds its limit over parking, a release and another generation; its
// end lets the next begin. Nothing is left of those that have closed.
func runsHold(k *kit) {
	setLimit(k, journal.Limit{Name: "runs", Concurrency: 1})
	n := newLimiter(k)
	runs := limited(k, 3, need("runs", ""))
	k.nothingDue(n.m.ID())
	stateIs(k, "before a round", runs[0], journal.Limited)
	k.same("begun", takeIn(n), 1)
	o := k.take(n.m.ID(), 1)[0]
	k.same("the first", o.run, runs[0])
	stateIs(k, "behind it", runs[1], journal.Limited)
	linesAre(k, "with three", journal.LimitUse{Name: "runs", Held: 1, Waiting: 2})
	c := claimsOf(k, o.run)
	if len(c) != 1 || c[0].Granted.IsZero() || c[0].Node != 0 || c[0].Step != "" || c[0].Run != o.run || c[0].Limit != "runs" || c[0].Place != 0 {
		k.t.Errorf("the claim of the first: %+v", c)
	}
	if c = claimsOf(k, runs[2]); len(c) != 1 || !c[0].Granted.IsZero() || c[0].Place != 2 || c[0].Since.IsZero() {
		k.t.Errorf("the claim of the last: %+v", c)
	}
	k.same("limits of the row", k.row(runs[1]).Limits, []journal.LimitNeed{need("runs", "")})
	k.same("limits of the history", k.history(runs[1]).Run.Limits, []journal.LimitNeed{need("runs", "")})
	o.commit(park, started())
	k.send(o.run, "go", "1")
	o = k.take(n.m.ID(), 1)[0]
	again := o.build(driver.Next{Kind: driver.NextRelease}, received(k.first(o.run)), journal.Event{Kind: journal.RunContinued})
	again.Continue = &journal.Continue{Version: 1, Seen: 1}
	o.submit(again)
	o = k.take(n.m.ID(), 1)[0]
	k.same("begun while it is open", takeIn(n), 0)
	o.commit(closed, started(), completed("1"))
	k.nothingDue(n.m.ID())
	k.same("claims of one that has closed", claimsOf(k, o.run), nil)
	for i := range 2 {
		k.same("begun", takeIn(n), 1)
		o = k.take(n.m.ID(), 1)[0]
		k.same("the next", o.run, runs[i+1])
		o.commit(closed, started(), completed("1"))
	}
	k.same("begun at last", takeIn(n), 0)
	linesAre(k, "at the end")
}

// Steps and runs stand in one line, and a round of a step lets a run begin, too. A run that needs
// several limits holds all of them or none.
func runsBesideSteps(k *kit) {
	setLimit(k, journal.Limit{Name: "a", Concurrency: 1})
	setLimit(k, journal.Limit{Name: "b", Concurrency: 1, Total: 1})
	n := newLimiter(k)
	step := n.want(nth(0), need("b", "x"))
	k.same("the step", len(n.ask(step)), 1)
	run := limited(k, 1, need("a", ""), need("b", "y"))[0]
	k.same("begun beside the step", takeIn(n), 0)
	linesAre(k, "while it waits", journal.LimitUse{Name: "a", Waiting: 1}, journal.LimitUse{Name: "b", Key: "y", Waiting: 1},
		journal.LimitUse{Name: "b", Key: "x", Held: 1})
	k.same("claims that wait", len(claimsOf(k, run)), 2)
	k.same("runs that the end of the step lets begin", n.end(step).Runs, 1)
	o := k.take(n.m.ID(), 1)[0]
	late := n.want(nth(0), need("a", ""))
	k.same("a step behind the run", n.ask(late), nil)
	o.commit(closed, started(), completed("1"))
	takeIn(n)
	k.same("held when the run has closed", n.holds(), []int64{late.ID})
}

// The line of runs is by priority and age, as that of steps.
func runLines(k *kit) {
	setLimit(k, journal.Limit{Name: "line", Concurrency: 1, Ageing: time.Hour})
	n := newLimiter(k)
	limited(k, 1, need("line", ""))
	takeIn(n)
	var want []string
	for _, priority := range []int16{5, 1, 3} {
		k.starts(journal.Start{Key: fmt.Sprint(priority), Priority: priority, Limits: []journal.LimitNeed{need("line", "")}})
	}
	for range 4 {
		takeIn(n)
		o := k.take(n.m.ID(), 1)[0]
		want = append(want, k.row(o.run).Key)
		o.commit(closed, started(), completed("1"))
	}
	k.same("the order", want, []string{"", "1", "3", "5"})
	takeIn(n)
	k.same("a step", len(n.ask(n.want(nth(0), need("line", "")))), 1)
	low := k.starts(journal.Start{Priority: 5, Limits: []journal.LimitNeed{need("line", "")}})[0].Run
	takeIn(n)
	late := n.want(k.j.Now().Add(3*time.Hour), need("line", "")) // an hour for each of two priorities is less than that
	early := n.want(k.j.Now().Add(time.Hour), need("line", ""))
	n.ask(late, early)
	page, err := k.j.Limits(k.ctx, journal.LimitFilter{Name: "line", Claims: 10})
	k.ok(err)
	var line []journal.RunID
	for _, c := range page.Claims[1:] {
		line = append(line, c.Run)
	}
	k.same("a run between steps", line, []journal.RunID{early.Run, low, late.Run})
}

// Messages, the one of its start among them, labels and a resume reach a run that waits, and do not
// let it begin.
func runsSleep(k *kit) {
	setLimit(k, journal.Limit{Name: "runs", Concurrency: 1})
	n := newLimiter(k)
	first := limited(k, 1, need("runs", ""))[0]
	takeIn(n)
	m := signal(journal.RunID{}, "höh", "s")
	run := k.starts(journal.Start{Limits: []journal.LimitNeed{need("runs", "")}, Message: &m, Owner: n.m.ID()})[0].Run
	for range 2 {
		k.send(run, "go", "")
		k.sends(journal.Message{Run: run, Kind: journal.MessageCancel})
		k.ok(k.admin(run, driver.AdminResume))
		k.ok(acts(k, driver.AdminAction{Run: run, Kind: driver.AdminSetLabels, Labels: map[string]*string{"l": new("v")}}))
		stateIs(k, "that waits", run, journal.Limited)
		k.same("begun", takeIn(n), 0)
	}
	o := k.take(n.m.ID(), 1)[0]
	k.same("claimed", o.run, first)
	o.commit(closed, started(), completed("1"))
	takeIn(n)
	o = k.take(n.m.ID(), 1)[0]
	k.same("claimed next", o.run, run)
	k.same("messages", len(k.history(run).Inbox), 4)
}

// A run that is to begin later asks for its limits then, and the node hears when that is.
func runsDelayed(k *kit) {
	setLimit(k, journal.Limit{Name: "runs", Concurrency: 3})
	n := newLimiter(k)
	m := signal(journal.RunID{}, "höh", "s")
	out := k.starts(journal.Start{Limits: []journal.LimitNeed{need("runs", "")}, Delay: time.Hour, Message: &m})[0]
	a := n.round(driver.LimitRound{Runs: true})
	k.same("begun", a.Runs, 0)
	k.starts(journal.Start{Limits: []journal.LimitNeed{need("runs", "")}, Delay: 2 * time.Hour})
	k.same("the next time", a.Next, out.StartAt)
	k.same("the next time of two", n.round(driver.LimitRound{Runs: true}).Next, out.StartAt)
	now := limited(k, 1, need("runs", ""))[0]
	k.same("begun of those that are due", takeIn(n), 1)
	k.same("claimed", k.take(n.m.ID(), 1)[0].run, now)
	soon := k.starts(journal.Start{Limits: []journal.LimitNeed{need("other", "")}, Delay: 50 * time.Millisecond})[0].Run
	k.eventually("a run that was delayed begins", func() bool { return takeIn(n) > 0 })
	k.same("claimed", k.take(n.m.ID(), 1)[0].run, soon)
}

// A start that is repeated asks for nothing again, whatever has become of its run.
func runsAskOnce(k *kit) {
	setLimit(k, journal.Limit{Name: "runs", Concurrency: 5})
	n := newLimiter(k)
	st := journal.Start{ID: journal.NewRunID(), Key: "key", Workflow: flow, Limits: []journal.LimitNeed{need("runs", "")}}
	other := st
	other.ID = journal.NewRunID()
	again := func(what string, held, waits int) {
		k.t.Helper()
		if out := k.starts(st, other); !out[0].Created || out[1].Created || out[1].Run != st.ID {
			k.t.Errorf("%s: %+v", what, out)
		}
		takeIn(n)
		if held+waits == 0 {
			linesAre(k, what)
		} else {
			linesAre(k, what, journal.LimitUse{Name: "runs", Held: held, Waiting: waits})
		}
	}
	k.starts(st)
	again("before it begins", 1, 0)
	o := k.take(n.m.ID(), 1)[0]
	again("owned", 1, 0)
	o.commit(closed, started(), completed("1"))
	again("closed", 0, 0)
	k.same("what the caller's needs are", other.Limits, []journal.LimitNeed{need("runs", "")})
}

// A turn starts children with limits, and more than one of a key waits.
func childrenWait(k *kit) {
	setLimit(k, journal.Limit{Name: "runs", Concurrency: 1})
	n := newLimiter(k)
	o := k.one(n.m.ID())
	c := o.build(park, asksChild(2))
	first, second := o.child(1, journal.CloseTerminate), o.child(2, journal.CloseTerminate)
	first.Limits, second.Limits = []journal.LimitNeed{need("runs", "k")}, []journal.LimitNeed{need("runs", "k")}
	c.Starts = []journal.Start{first, second}
	o.submit(c)
	k.nothingDue(n.m.ID())
	k.same("begun", takeIn(n), 1)
	linesAre(k, "of the children", journal.LimitUse{Name: "runs", Key: "k", Held: 1, Waiting: 1})
	k.ok(k.admin(o.run, driver.AdminTerminate)) // and both with it
	takeIn(n)
	linesAre(k, "of children that were terminated")
}

// Several nodes start, take in, claim and close at once. No moment has more runs between their
// claim and their close than the limits allow, and nothing is left.
func runsUnderLoad(k *kit) {
	setLimit(k, journal.Limit{Name: "x", Concurrency: 2, Total: 3})
	setLimit(k, journal.Limit{Name: "y", Concurrency: 3})
	w := runWitness{k: k, most: map[string]int64{"x1": 2, "x2": 2, "x": 3, "y": 3}, count: map[string]*atomic.Int64{}}
	for what := range w.most {
		w.count[what] = new(atomic.Int64)
	}
	const nodes, each = 4, 12
	var done atomic.Int64
	members := make([]*limiter, nodes)
	for i := range members {
		members[i] = newLimiter(k)
	}
	deadline := time.Now().Add(patience)
	k.together(nodes, func(i int) error {
		chance := rand.New(rand.NewPCG(2, uint64(i)))
		var held []driver.Claimed
		for n := 0; n < each || done.Load() < nodes*each; n++ {
			if time.Now().After(deadline) {
				return fmt.Errorf("only %d of %d runs have begun and closed", done.Load(), nodes*each)
			}
			if n < each {
				needs := []journal.LimitNeed{need("x", fmt.Sprint(1+chance.IntN(2)))}
				if chance.IntN(2) == 0 {
					needs = append(needs, need("y", ""))
				}
				if _, err := k.j.Start(k.ctx, nil, []journal.Start{{Workflow: flow, Limits: needs}}); err != nil {
					return err
				}
			}
			if _, err := members[i].m.Limits(k.ctx, driver.LimitRound{Runs: true}); err != nil {
				return err
			}
			r := driver.ClaimRequest{Node: members[i].m.ID(), Routes: []journal.Route{flowRoute}, Max: 2, Suspects: 1}
			c, err := k.j.Claim(k.ctx, r)
			if err != nil {
				return err
			}
			for _, t := range c.Tasks {
				w.add(t.Run.Limits, 1)
				held = append(held, t)
			}
			for len(held) > 0 && chance.IntN(3) > 0 {
				w.add(held[0].Run.Limits, -1) // before the commit: the place is another's by the time that its answer is here
				if err := closeClaimed(k, members[i].m.ID(), &held[0]); err != nil {
					return err
				}
				held = held[1:]
				done.Add(1)
			}
		}
		return nil
	})
	takeIn(members[0])
	linesAre(k, "at the end")
}

// runWitness counts outside of the store.
type runWitness struct {
	k     *kit
	most  map[string]int64
	count map[string]*atomic.Int64
}

func (w *runWitness) add(needs []journal.LimitNeed, by int64) {
	for _, n := range needs {
		for _, what := range []string{n.Name + n.Key, n.Name} {
			if got := w.count[what].Add(by); got > w.most[what] {
				w.k.t.Errorf("%d hold %s, which allows %d", got, what, w.most[what])
			}
			if n.Key == "" {
				break
			}
		}
	}
}

// closeClaimed closes a run that was claimed and has no history.
func closeClaimed(k *kit, node journal.NodeID, t *driver.Claimed) error {
	o := &owner{k: k, node: node, run: t.Task.Run, gen: 1, fence: t.Task.Fence, turn: t.Task.Turn, limited: true}
	o.head.Link = journal.OriginOf(o.run, 1, 0, t.Run.Input)
	out, err := k.commits(o.build(closed, started(), completed("1")))
	if err == nil {
		err = out[0].Err
	}
	return err
}
