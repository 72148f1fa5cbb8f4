package replay

import "github.com/reprise-run/reprise/journal"

// outbox gathers what the code asks of the world until Take hands it over. Nothing is put in during
// Replay: what a history has was dispatched when it was committed.
type outbox struct {
	asked    []*Command // steps
	handed   []Step     // the memory of the last Decision's steps
	cancels  []journal.Cmd
	drops    []journal.Cmd
	starts   []journal.Start
	messages []journal.Message
	replies  []journal.Reply
	aside    []SetAside
	children bool // some generation may have started a child

	counted struct{ starts, messages, replies int } // that are in bytes
	bytes   int
}

// effects is how many children, messages and replies there are: the driver ends a turn before
// they are too many for one commit.
func (o *outbox) effects() int { return len(o.starts) + len(o.messages) + len(o.replies) }

// effectBytes is how many bytes these carry. Each is counted once, however often it is asked.
func (o *outbox) effectBytes() int {
	for n := &o.counted.starts; *n < len(o.starts); *n++ {
		st := &o.starts[*n]
		o.bytes += len(st.Input.Data)
		for k, v := range st.Headers {
			o.bytes += len(k) + len(v)
		}
	}
	for n := &o.counted.messages; *n < len(o.messages); *n++ {
		o.bytes += len(o.messages[*n].Payload.Data)
	}
	for n := &o.counted.replies; *n < len(o.replies); *n++ {
		o.bytes += len(o.replies[*n].Payload.Data)
	}
	return o.bytes
}

// decision empties the outbox. A run that is over starts no steps any more. A step that was
// resolved meanwhile, because it was dropped in the turn that asked for it, is not handed out.
func (o *outbox) decision(over bool) Decision {
	d := Decision{
		CancelSteps: o.cancels, DropSteps: o.drops,
		Starts: o.starts, Messages: o.messages, Replies: o.replies, SetAside: o.aside,
	}
	clear(o.handed) // bodies may hold much
	o.handed = o.handed[:0]
	if !over {
		for _, c := range o.asked {
			if c.outcome == Unresolved {
				c.handed = true
				o.handed = append(o.handed, c.step())
			}
		}
	}
	d.Steps = o.handed
	clear(o.asked)
	o.asked, o.cancels, o.drops = o.asked[:0], nil, nil
	o.starts, o.messages, o.replies, o.aside = nil, nil, nil, nil
	o.counted.starts, o.counted.messages, o.counted.replies, o.bytes = 0, 0, 0, 0
	return d
}
