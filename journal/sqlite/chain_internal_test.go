package sqlite

import (
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// First returns the first commit of a run that a node owns from birth, with its events chained.
func First(run journal.RunID, node journal.NodeID, input journal.Payload, next driver.Next, events ...journal.Event) driver.Commit {
	c := driver.Commit{Run: run, Node: node, Fence: journal.FenceAtBirth, Generation: 1, Next: next, Events: events,
		Head: journal.Head{Link: journal.OriginOf(run, 1, 0, input)}}
	return Chain(c)
}

// Then returns the commit that its owner builds after c.
func Then(c driver.Commit, next driver.Next, events ...journal.Event) driver.Commit {
	after := driver.Commit{Run: c.Run, Node: c.Node, Fence: c.Fence, Turn: c.Turn, Generation: c.Generation, Next: next, Events: events,
		Head: c.NewHead(), InboxSeen: c.InboxSeen}
	if !c.AppendOnly {
		after.Turn++
	}
	return Chain(after)
}

// Chain numbers, dates and links the events of a commit, as a machine does. A time that is set
// stays. The list of events is a new one.
func Chain(c driver.Commit) driver.Commit {
	list, link := make([]journal.Event, len(c.Events)), c.Head.Link
	for i, ev := range c.Events {
		ev.Seq = c.Head.Seq + journal.Seq(i) + 1
		if ev.Time.IsZero() {
			ev.Time = now()
		}
		ev.Time = ev.Time.UTC().Truncate(time.Microsecond)
		ev.Link = ev.LinkAfter(link)
		list[i], link = ev, ev.Link
	}
	if c.Events = list; len(list) == 0 {
		c.Events = nil
	}
	return c
}

// Consume adds the event that consumes a message, and names the message.
func Consume(c driver.Commit, m *journal.Message) driver.Commit {
	c.Events = append(c.Events, m.Event())
	c.Consumed = append(c.Consumed, driver.Consumed{Number: m.Number, Digest: m.Digest()})
	c.InboxSeen = max(c.InboxSeen, m.Number)
	return Chain(c)
}
