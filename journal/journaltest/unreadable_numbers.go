package journaltest

import (
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// A task whose state or priority is a number that nobody knows is left alone, and told of; its
// history can be read. It is claimed when the number is mended.
func unknownTaskNumbers(k *kit) {
	node := k.join(leaseLong).ID()
	for part, named := range map[string]string{PartTaskUrgency: "column priority of its task", PartTaskState: "column state of its task"} {
		runs := k.begin(3)
		bad := runs[1]
		mend := spoil(k, bad, part, 0)
		if mend == nil {
			for _, o := range k.take(node, 3) {
				o.commit(closed, started(), completed("1"))
			}
			continue
		}
		for _, o := range k.take(node, 2) {
			o.commit(closed, started(), completed("1"))
		}
		k.same("tasks that are left", len(k.claim(node, 4).Tasks), 0)
		for _, run := range k.listAll(journal.ListFilter{IDs: runs}) {
			if run.ID == bad {
				wantUnreadable(k, "a listing", run.Unreadable, bad, named, true)
			} else if run.Unreadable != nil {
				k.t.Errorf("a listing: %v", run.Unreadable)
			}
		}
		h := k.load(driver.LoadRequest{Run: bad})
		k.ok(h.Err)
		wantUnreadable(k, "a load", h.Run.Unreadable, bad, named, true)
		mend()
		k.take(node, 1)[0].commit(closed, started(), completed("1"))
	}
}

// Negative numbers of a task are told of, and the history can be read.
func negativeTaskNumbers(k *kit) {
	run := k.begin(1)[0]
	for part, named := range map[string]string{PartTaskStrikes: "strikes", PartTaskTurn: "turn", PartTaskLast: "inbox_last"} {
		mend := spoil(k, run, part, 0)
		if mend == nil {
			continue
		}
		named = "column " + named + " of its task"
		wantUnreadable(k, "a listing", k.row(run).Unreadable, run, named, false)
		h := k.load(driver.LoadRequest{Run: run})
		k.ok(h.Err)
		wantUnreadable(k, "a load", h.Run.Unreadable, run, named, false)
		mend()
	}
}

// A child whose close policy is a number that nobody knows is left alone when its parent closes,
// and its siblings get what theirs say. It is told of as unreadable, and goes on when it is mended.
func unknownPolicy(k *kit) {
	node := k.join(leaseLong).ID()
	parent := k.one(node)
	children := parent.bears(journal.CloseCancel, journal.CloseTerminate, journal.CloseTerminate)
	cancelled, bad, terminated := children[0], children[1], children[2]
	mend := spoil(k, bad, PartPolicy, 0)
	if mend == nil {
		return
	}
	end := parent.build(closed, completed("1"))
	end.Children = true
	parent.submit(end)
	k.same("messages of the child that is cancelled", len(k.history(cancelled).Inbox), 1)
	for _, run := range k.listAll(journal.ListFilter{IDs: children}) {
		if closed := run.Status == journal.Terminated; closed != (run.ID == terminated) {
			k.t.Errorf("run %s is %s", run.ID, run.Status)
		}
		if run.ID == bad {
			wantUnreadable(k, "a listing", run.Unreadable, bad, "column parent_policy", true)
		} else if run.Unreadable != nil {
			k.t.Errorf("a listing: %v", run.Unreadable)
		}
	}
	wantUnreadable(k, "a load", k.load(driver.LoadRequest{Run: bad}).Err, bad, "column parent_policy", true)
	for _, t := range k.claim(node, 4).Tasks {
		if t.Run.ID == bad {
			wantUnreadable(k, "a claim", t.Run.Unreadable, bad, "column parent_policy", true)
		} else if t.Run.Unreadable != nil {
			k.t.Errorf("a claim: %v", t.Run.Unreadable)
		}
	}
	mend()
	k.same("messages of the child that was mended", len(k.history(bad).Inbox), 0)
}
