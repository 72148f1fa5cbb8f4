package journaltest

import (
	"context"

	"github.com/reprise-run/reprise/journal"
)

// audit reads every run through the store and checks what must hold at any time.
func (k *kit) audit(ctx context.Context) {
	k.t.Helper()
	f := journal.ListFilter{Limit: journal.ListMax}
	for {
		page, err := k.store.List(ctx, f)
		if err != nil {
			k.t.Errorf("audit: %v", err)
			return
		}
		for i := range page.Runs {
			k.auditRun(ctx, &page.Runs[i])
		}
		if f.Cursor = page.Next; f.Cursor == "" {
			return
		}
	}
}

func (k *kit) auditRun(ctx context.Context, r *journal.Run) {
	k.t.Helper()
	list, err := k.store.Load(ctx, []journal.LoadRequest{{Run: r.ID}})
	if err != nil || len(list) != 1 || list[0].Err != nil {
		k.t.Errorf("audit run %s: %v %v", r.ID, err, list)
		return
	}
	h := list[0]
	if r.Status.Closed() == (r.Task != nil) || r.Status.Closed() != (r.Terminal != nil) {
		k.t.Errorf("run %s is %s: task %v, terminal event %v (J7)", r.ID, r.Status, r.Task, r.Terminal)
	}
	var issued []journal.Issued
	var seen journal.InboxSeq
	outcomes := map[journal.Cmd]bool{}
	for i, ev := range h.Events {
		last := i == len(h.Events)-1
		if ev.Seq != journal.Seq(i+1) {
			k.t.Errorf("run %s: event %d has seq %d (J1)", r.ID, i, ev.Seq)
		}
		if i > 0 && ev.Time.Before(h.Events[i-1].Time) {
			k.t.Errorf("run %s: time goes back at seq %d", r.ID, ev.Seq)
		}
		if ev.Kind.Terminal() != (last && r.Status.Closed()) {
			k.t.Errorf("run %s is %s: %s at seq %d of %d (J7)", r.ID, r.Status, ev.Kind, ev.Seq, len(h.Events))
		}
		if ev.Inbox != 0 {
			if ev.Inbox != seen+1 {
				k.t.Errorf("run %s: seq %d consumes message %d after %d (J5)", r.ID, ev.Seq, ev.Inbox, seen)
			}
			seen = ev.Inbox
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
		if seen++; m.Number != seen {
			k.t.Errorf("run %s: message %d waits where %d must (J5)", r.ID, m.Number, seen)
		}
	}
}
