package replica

import (
	"context"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// delta is a consistent snapshot of a run: its row, its events after Seq after and the messages
// after inbox and before end. With end 0 read sets it, so that all messages of that moment are in.
type delta struct {
	after journal.Seq
	inbox journal.InboxSeq
	end   journal.InboxSeq

	run      journal.Run
	events   []journal.Event
	messages []journal.Message
}

// follows tells whether the snapshot begins with the last event and the last message that a replica
// has seen, and leaves the two out. If not, they were consumed meanwhile, or the store went back to
// before them.
func (d *delta) follows(r *replica) bool {
	if r.head.Seq > 0 {
		if len(d.events) == 0 || d.events[0].Seq != r.head.Seq || d.events[0].Link != r.head.Link {
			return false
		}
		d.events = d.events[1:]
	}
	if n := r.inbox.Number; n > 0 {
		if len(d.messages) == 0 || d.messages[0].Number != n || d.messages[0].Digest() != r.inbox.Digest {
			return false
		}
		d.messages = d.messages[1:]
	}
	return true
}

// turn tells states of the run apart whose histories are the same: some turns add no event. It is
// -1 for a closed run, which has no task to count turns.
func (d *delta) turn() journal.Turn {
	if d.run.Task == nil {
		return -1
	}
	return d.run.Task.Turn
}

// read fills d. One load is consistent by itself; a long history or a full inbox takes several, and
// the run may make turns meanwhile. So each further load begins where the last one ended, and
//
//   - events that it finds may have consumed messages that were read before: those are read again;
//   - another generation makes everything read so far void.
//
// It ends with a load that finds no event it has not seen, and the end of the inbox. A run that is
// never quiet makes it take longer, but each round costs the run a commit and the reader a page, so
// the reader catches up. Messages from end on are left for later questions.
func (d *delta) read(ctx context.Context, o *Options, run journal.RunID) error {
	after, inbox := d.after, d.inbox
	for first := true; ; first = false {
		h, err := o.Load(ctx, driver.LoadRequest{Run: run, AfterSeq: after, AfterInbox: inbox})
		if err != nil {
			return err
		}
		if !first && h.Run.Generation != d.run.Generation {
			after, inbox, d.after, d.events, d.messages = 0, 0, 0, nil, nil
			d.run = h.Run
			continue
		}
		d.run = h.Run
		if d.end == 0 && h.Run.Task != nil {
			d.end = h.Run.Task.InboxLast + 1
		}
		if len(h.Events) > 0 {
			d.events = append(d.events, h.Events...)
			after = h.Events[len(h.Events)-1].Seq
			if len(d.messages) > 0 || h.More {
				d.messages, inbox = nil, d.inbox
				continue
			}
		}
		for i := range h.Inbox {
			if h.Inbox[i].Number < d.end {
				d.messages = append(d.messages, h.Inbox[i])
			}
		}
		if h.Run.Task == nil || len(h.Inbox) == 0 {
			return nil
		}
		if inbox = h.Inbox[len(h.Inbox)-1].Number; inbox >= min(h.Run.Task.InboxLast, d.end-1) {
			return nil
		}
	}
}
