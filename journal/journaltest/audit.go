package journaltest

import (
	"context"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/journaltest/state"
)

// audit reads every run through the store and checks what must hold at any time.
func (k *kit) audit(ctx context.Context) {
	k.t.Helper()
	f := journal.ListFilter{Limit: journal.ListMax}
	for {
		page, err := k.view.List(ctx, f)
		if err != nil {
			k.t.Errorf("audit: %v", err)
			return
		}
		for i := range page.Runs {
			auditRun(k, ctx, &page.Runs[i])
		}
		if f.Cursor = page.Next; f.Cursor == "" {
			return
		}
	}
}

func auditRun(k *kit, ctx context.Context, r *journal.Run) {
	k.t.Helper()
	h, err := state.Whole(ctx, k.store, r.ID)
	if err != nil || h.Err != nil {
		k.t.Errorf("audit run %s: %v %v", r.ID, err, h.Err)
		return
	}
	if r.Status.Closed() == (r.Task != nil) || r.Status.Closed() != (r.Terminal != nil) {
		k.t.Errorf("run %s is %s: task %v, terminal event %v (J7)", r.ID, r.Status, r.Task, r.Terminal)
	}
	var issued []journal.Issued
	inbox := auditInbox{k: k, ctx: ctx, r: &h.Run}
	outcomes := map[journal.Cmd]bool{}
	link := originOf(&h.Run)
	for i, ev := range h.Events {
		last := i == len(h.Events)-1
		if ev.Seq != journal.Seq(i+1) {
			k.t.Errorf("run %s: event %d has seq %d (J1)", r.ID, i, ev.Seq)
		}
		if i > 0 && ev.Time.Before(h.Events[i-1].Time) {
			k.t.Errorf("run %s: time goes back at seq %d", r.ID, ev.Seq)
		}
		// Checks may name a message without what is in it, so an event that consumes one is left
		// out.
		if want := ev.LinkAfter(link); ev.Inbox == 0 && ev.Link != want && (!ev.ByStore() || ev.Link != 0) {
			k.t.Errorf("run %s: seq %d has the link %x, want %x (J1)", r.ID, ev.Seq, uint64(ev.Link), uint64(want))
		}
		link = ev.Link
		if ev.Kind.Terminal() != (last && r.Status.Closed()) {
			k.t.Errorf("run %s is %s: %s at seq %d of %d (J7)", r.ID, r.Status, ev.Kind, ev.Seq, len(h.Events))
		}
		if ev.Inbox != 0 {
			inbox.comes(ev.Inbox)
		}
		if ev.Cmd != 0 {
			if outcomes[ev.Cmd] || int(ev.Cmd) > len(issued) || issued[ev.Cmd-1].Name != ev.Name {
				k.t.Errorf("run %s: seq %d answers command %d %q twice or of another name", r.ID, ev.Seq, ev.Cmd, ev.Name)
			}
			outcomes[ev.Cmd] = true
		}
		issued = append(issued, ev.Issued...)
	}
	for _, m := range h.Inbox {
		inbox.comes(m.Number)
	}
}

// auditInbox goes through the inbox of a run's generation: what was carried over to it, then what
// is behind that.
type auditInbox struct {
	k     *kit
	ctx   context.Context
	r     *journal.Run
	count int // of the messages so far
}

func (a *auditInbox) next() journal.InboxSeq {
	n := journal.InboxSeq(a.count)
	a.count++
	if a.r.Continued == nil {
		return n + 1
	}
	if int(n) < len(a.r.Continued.Carried) {
		return a.r.Continued.Carried[n]
	}
	return a.r.Continued.Seen + n - journal.InboxSeq(len(a.r.Continued.Carried)) + 1
}

// comes expects a message next, behind others only that were rejected.
func (a *auditInbox) comes(number journal.InboxSeq) {
	a.k.t.Helper()
	for want := a.next(); want != number; want = a.next() {
		list, err := a.k.store.Load(a.ctx, []driver.LoadRequest{{Run: a.r.ID, Answer: want}})
		if err != nil || list[0].Answer == nil || !list[0].Answer.Rejected {
			a.k.t.Errorf("run %s: message %d is consumed or waits where %d must (J5)", a.r.ID, number, want)
			return
		}
	}
}
