package journaltest

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// A run that closes leaves no child without a decision: each meets its policy in the closing
// transaction. Children of earlier generations, grandchildren, and members of the same batch are
// where a store forgets one.
var policyChecks = []check{
	{"J2_ACloseAppliesThePolicyOfEachChild", closeApplies},
	{"J2_TerminationAppliesThePolicies", terminationApplies},
	{"J2_PoliciesReachThreeLevelsDeep", policiesRecur},
	{"J2_PoliciesHoldForChildrenOfEarlierGenerations", policiesOfGenerations},
	{"J3_TheOwnerOfATerminatedChildIsRefused", terminatedChildOwner},
	{"J5_PoliciesCancelOnce", policyCancelsOnce},
	{"J7_FamiliesCloseAtOnce", familiesCloseAtOnce},
	{"J7_ChildOfATerminatedMember", childOfTerminatedMember},
}

// sortedIDs returns ids in their order.
func sortedIDs(ids ...journal.RunID) []journal.RunID {
	ids = slices.Clone(ids)
	slices.SortFunc(ids, func(a, b journal.RunID) int { return bytes.Compare(a[:], b[:]) })
	return ids
}

// isOrphan checks that a run got the cancel request of a parent that closed, as its only message.
func isOrphan(k *kit, run journal.RunID) {
	k.t.Helper()
	h := k.history(run)
	if h.Run.Status != journal.Open || len(h.Inbox) != 1 || h.Inbox[0].Kind != journal.MessageCancel || h.Inbox[0].Key != journal.CancelKey {
		k.t.Fatalf("run %s is %s with the inbox %+v, want it open with a cancel request", run, h.Run.Status, h.Inbox)
	}
	if f := k.failure(h.Inbox[0].Payload); f.Type != journal.FailureCancelled || !strings.Contains(f.Message, "parent") {
		k.t.Errorf("run %s is cancelled for %+v", run, f)
	}
}

// isTerminated checks that a run was closed for its parent.
func isTerminated(k *kit, run journal.RunID) {
	k.t.Helper()
	r := k.row(run)
	if r.Status != journal.Terminated || r.Terminal == nil || r.Terminal.Kind != journal.RunTerminated || r.Task != nil {
		k.t.Fatalf("run %s is %s: %+v", run, r.Status, r.Terminal)
	}
	if f := k.failure(r.Terminal.Payload); f.Type != journal.FailureTerminate || !strings.Contains(f.Message, "parent") {
		k.t.Errorf("run %s was terminated for %+v", run, f)
	}
}

// isLeft checks that a run is as nobody had touched it.
func isLeft(k *kit, run journal.RunID) {
	k.t.Helper()
	if h := k.history(run); h.Run.Status != journal.Open || len(h.Inbox) > 0 {
		k.t.Errorf("run %s is %s with the inbox %+v, want it open without", run, h.Run.Status, h.Inbox)
	}
}

// closeApplies: the children are due, parked, owned or closed when their parent closes.
func closeApplies(k *kit) {
	const cancel, terminate, abandon = journal.CloseCancel, journal.CloseTerminate, journal.CloseAbandon
	node := k.join(leaseLong).ID()
	parent := k.one(node)
	ids := parent.bears(cancel, terminate, abandon, cancel, terminate, abandon, cancel, terminate, abandon, cancel, terminate, abandon)
	children := k.takeAll(node)
	for i, id := range ids {
		switch i / 3 {
		case 0:
			children[id].commit(park, started())
		case 1:
			children[id].commit(keep, started())
		case 2:
			children[id].commit(closed, started(), completed("1"))
		default:
			children[id].commit(release, started())
		}
	}
	out := parent.submit(parent.closing())
	k.same("terminated", sortedIDs(out.Closed...), sortedIDs(ids[1], ids[4], ids[10]))
	for i, id := range ids {
		switch {
		case i/3 == 2:
			k.same("status of a child that was closed before", k.row(id).Status, journal.Completed)
			k.inboxIs(id)
		case i%3 == 0:
			isOrphan(k, id)
		case i%3 == 1:
			isTerminated(k, id)
		default:
			isLeft(k, id)
		}
	}
	k.inboxIs(parent.run) // nobody tells a closed parent
	k.same("attention", k.claim(node, 0).Attention, []journal.RunID{ids[3]})
	due := k.takeAll(node) // J6: the parked one was woken
	if len(due) != 3 || due[ids[0]] == nil || due[ids[9]] == nil || due[ids[11]] == nil {
		k.t.Errorf("due are %v", due)
	}
	cancelled := due[ids[0]]
	cancelled.submit(cancelled.withOutcome(cancelled.build(closed, received(k.first(cancelled.run)), ended(journal.RunCancelled))))
}

// An operator's termination applies close policies as a close does, down to grandchildren.
func terminationApplies(k *kit) {
	node := k.join(leaseLong).ID()
	parent := k.one(node)
	ids := parent.bears(journal.CloseCancel, journal.CloseTerminate, journal.CloseAbandon)
	k.ok(k.admin(parent.run, driver.AdminTerminate))
	isOrphan(k, ids[0])
	isTerminated(k, ids[1])
	isLeft(k, ids[2])
	k.inboxIs(parent.run)
}

// policiesRecur: a root, its child, the child's child, and theirs.
func policiesRecur(k *kit) {
	const cancel, terminate, abandon = journal.CloseCancel, journal.CloseTerminate, journal.CloseAbandon
	node := k.join(leaseLong).ID()
	for _, end := range []string{"a commit", "an operator"} {
		above := k.one(node)
		root := k.takeRun(node, above.bears(cancel)[0])
		above.commit(park)
		second := root.bears(terminate, cancel, abandon)
		thirds := k.takeAll(node)
		var third, spared []journal.RunID
		for i, id := range second {
			if list := thirds[id].bears(terminate, cancel, abandon); i == 0 {
				third = list
			} else {
				spared = append(spared, list...)
			}
		}
		fourth := k.takeRun(node, third[0]).bears(abandon, terminate, cancel)
		if end == "a commit" {
			out := root.submit(root.withOutcome(root.closing()))
			k.same("terminated", sortedIDs(out.Closed...), sortedIDs(second[0], third[0], fourth[1]))
		} else {
			k.ok(k.admin(root.run, driver.AdminTerminate))
		}
		k.same("what waits for the run above", len(k.history(above.run).Inbox), 1)
		for _, id := range []journal.RunID{second[0], third[0], fourth[1]} {
			isTerminated(k, id)
		}
		for _, id := range []journal.RunID{second[1], third[1], fourth[2]} {
			isOrphan(k, id)
		}
		for _, id := range append(spared, second[2], third[2], fourth[0]) {
			isLeft(k, id)
		}
		k.takeAll(node)
	}
}

// Close policies hold for children that an earlier generation started: the store finds them, not
// the history.
func policiesOfGenerations(k *kit) {
	node := k.join(leaseLong).ID()
	parent := k.one(node)
	first := parent.bears(journal.CloseTerminate, journal.CloseCancel)
	parent.submit(parent.continued(keep, nil))
	second := parent.bears(journal.CloseTerminate)
	k.same("parent's generation", k.row(second[0]).Parent.Generation, journal.Generation(2))
	out := parent.submit(parent.closing())
	k.same("terminated", sortedIDs(out.Closed...), sortedIDs(first[0], second[0]))
	isTerminated(k, first[0])
	isTerminated(k, second[0])
	isOrphan(k, first[1])
}

// The owner of a child that was terminated with its parent is refused when it commits.
func terminatedChildOwner(k *kit) {
	node := k.join(leaseLong).ID()
	parent := k.one(node)
	child := k.takeRun(node, parent.bears(journal.CloseTerminate)[0])
	child.commit(keep, started("a"))
	parent.submit(parent.closing())
	child.refused(child.build(keep, stepDone(1, "a", "1")), "the owner of a terminated child", fenced)
	child.refused(child.withOutcome(child.build(closed, completed("1"))), "the owner of a terminated child closes it", fenced)
	isTerminated(k, child.run)
}

// A child that was already asked to cancel gets no second request from its parent's close.
func policyCancelsOnce(k *kit) {
	node := k.join(leaseLong).ID()
	parent := k.one(node)
	ids := parent.bears(journal.CloseCancel, journal.CloseCancel)
	k.sends(journal.Message{Run: ids[0], Kind: journal.MessageCancel}, journal.Message{Run: ids[1], Kind: journal.MessageCancel})
	children := k.takeAll(node)
	children[ids[1]].commit(keep, started(), received(k.first(ids[1])))
	k.unchanged("a second cancel request", func() {
		for _, id := range ids {
			k.sends(journal.Message{Run: id, Kind: journal.MessageCancel})
		}
	})
	parent.submit(parent.closing())
	k.inboxIs(ids[0], "2  1")
	k.inboxIs(ids[1])
}

// childOfTerminatedMember: a child starts one of its own in the very batch whose other member
// closes its parent, which terminates it. The policies come behind all starts, so the grandchild
// ends as well.
func childOfTerminatedMember(k *kit) {
	node := k.join(leaseLong).ID()
	for _, parentFirst := range []bool{true, false} {
		parent := k.one(node)
		child := k.takeRun(node, parent.bears(journal.CloseTerminate)[0])
		turn := child.build(keep, asksChild(1))
		turn.Starts = []journal.Start{child.child(1, journal.CloseTerminate)}
		batch := []driver.Commit{turn, parent.closing()}
		if parentFirst {
			slices.Reverse(batch)
		}
		if _, err := k.commits(batch...); err != nil {
			k.t.Fatal(err)
		}
		isTerminated(k, child.run)
		isTerminated(k, turn.Starts[0].ID)
	}
}

// familiesCloseAtOnce: parents, children and grandchildren close at the same moment, by themselves
// and by an operator, while others write to them. Every lock is somebody's next one, and nobody
// waits for ever.
func familiesCloseAtOnce(k *kit) {
	const families = 12
	node := k.join(leaseLong).ID()
	type family struct{ parent, child, grandchild *owner }
	list := make([]family, families)
	policies := []journal.ClosePolicy{journal.CloseTerminate, journal.CloseCancel}
	for i := range list {
		f := &list[i]
		f.parent = k.one(node)
		f.child = k.takeRun(node, f.parent.bears(policies[i%2])[0])
		f.grandchild = k.takeRun(node, f.child.bears(policies[i/2%2])[0])
	}
	for _, f := range list {
		f.grandchild.commit(keep, started())
	}
	commits := make([][]driver.Commit, families)
	for i, f := range list {
		commits[i] = []driver.Commit{f.parent.closing(), f.child.withOutcome(f.child.closing()),
			f.grandchild.withOutcome(f.grandchild.build(closed, completed("1")))}
	}
	half := func(i, from int) []driver.Commit { // one of each of some families
		var batch []driver.Commit
		for n := from; n < families; n += 2 {
			batch = append(batch, commits[n][i])
		}
		if from > 0 {
			slices.Reverse(batch)
		}
		return batch
	}
	k.together(4*families, func(i int) error {
		f := list[i/4]
		switch {
		case i < 6:
			out, err := k.commits(half(i/2, i%2)...)
			for _, o := range out {
				if o.Err != nil && !fenced(o.Err) {
					return o.Err
				}
			}
			return err
		case i%4 == 0:
			return notClosed(acts(k, driver.AdminAction{Run: f.parent.run, Kind: driver.AdminTerminate, Reason: "now"}))
		case i%4 == 1:
			return notClosed(acts(k, driver.AdminAction{Run: f.child.run, Kind: driver.AdminTerminate, Reason: "now"}))
		}
		_, err := k.j.Send(k.ctx, nil, []journal.Message{signal(f.grandchild.run, "s", ""), signal(f.parent.run, "s", ""), signal(f.child.run, "s", "")})
		return err
	})
	for i, f := range list {
		for level, o := range []*owner{f.parent, f.child, f.grandchild} {
			if r := k.row(o.run); r.Status == journal.Open {
				k.t.Errorf("family %d: level %d is open", i, level)
			}
		}
	}
}

// notClosed forgets that a run was closed already.
func notClosed(err error) error {
	if errors.Is(err, journal.ErrClosed) {
		return nil
	}
	return err
}
