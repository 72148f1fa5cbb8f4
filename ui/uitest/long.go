package uitest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// later is longer than any test.
const later = 24 * time.Hour

// What is planted by hand is served by no node: nothing happens to it.
const (
	longWorkflow = "long"
	longQueue    = "elsewhere"
	longStrands  = 8
)

// Payloads of the first steps of a long run that ask for something of a page.
var oddPayloads = []journal.Payload{
	{Encoding: "application/x-picture", Data: []byte("\x00\x01\x02\xff<script>alert(3)</script>")},
	{Encoding: journal.EncodingJSON, Data: []byte(`{"<b>name</b>": "</pre><script>alert(4)</script>", "turned": "\u202egnp.exe", "nul": "a\u0000b", "large": 12345678901234567890, "no number": "\": 12345678901234567890,"}`)},
	{Encoding: journal.EncodingJSON, Data: []byte(`"` + strings.Repeat("x<i>", (2<<20)/4-2) + `"`)},
}

// PlantLong writes a run with a history of so many events, as eight strands would that execute one
// step after the other, and leaves it open.
func (s *Server) PlantLong(t testing.TB, key string, events int) journal.RunID {
	t.Helper()
	ctx := clustertest.Context(t)
	l := &long{at: s.now().Add(-time.Duration(events) * longPace), open: make([]journal.Cmd, longStrands)}
	j := driver.New(s.store, nil)
	m, err := j.Join(ctx, journal.Node{Name: "history", Lease: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	run, err := j.Start(ctx, nil, []journal.Start{{Key: key, Workflow: longWorkflow, Queue: longQueue, Owner: m.ID(), Input: journal.Payload{Encoding: journal.EncodingJSON, Data: []byte(`{"events": true}`)}}})
	if err != nil || run[0].Err != nil {
		t.Fatal(err, run)
	}
	id := run[0].Run
	c := driver.Commit{Run: id, Node: m.ID(), Fence: journal.FenceAtBirth, Generation: 1}
	c.Head.Link = journal.OriginOf(id, 1, 0, journal.Payload{Encoding: journal.EncodingJSON, Data: []byte(`{"events": true}`)})
	for written := 0; written < events; c.Turn++ {
		n := min(5_000, events-written)
		c.Events = nil
		link := c.Head.Link
		for range n {
			e := l.next()
			e.Link = e.LinkAfter(link)
			link = e.Link
			c.Events = append(c.Events, e)
		}
		if written += n; written == events {
			c.Next.Kind = driver.NextPark
		}
		out, err := j.Commit(ctx, []driver.Commit{c})
		if err != nil || out[0].Err != nil {
			t.Fatal(err, out)
		}
		c.Head = journal.Head{Seq: c.Events[n-1].Seq, Link: link}
	}
	if err := m.Leave(ctx); err != nil {
		t.Fatal(err)
	}
	return id
}

func (s *Server) now() time.Time {
	return driver.New(s.store, nil).Now().UTC().Truncate(time.Microsecond)
}

const longPace = 130 * time.Millisecond

// long makes the events of a history.
type long struct {
	seq  journal.Seq
	cmd  journal.Cmd
	at   time.Time
	open []journal.Cmd // the step of each strand
}

func (l *long) next() journal.Event {
	l.seq++
	l.at = l.at.Add(longPace)
	e := journal.Event{Seq: l.seq, Time: l.at}
	n := int(l.seq)
	if n == 1 {
		e.Kind = journal.RunStarted
		for i := range l.open {
			e.Issued = append(e.Issued, l.step(i))
		}
		return e
	}
	strand := n * 5 % longStrands
	e.Kind, e.Cmd, e.Name, e.Attempt = journal.StepCompleted, l.open[strand], longName(strand), 1
	switch {
	case n-2 < len(oddPayloads):
		e.Payload = oddPayloads[n-2]
	case n%100 == 0:
		e.Kind, e.Attempt = journal.StepFailed, 3
		e.Payload = journal.EncodeFailure(&journal.Failure{Type: "*shop.Error", Message: fmt.Sprintf("parcel %d is lost", n)})
	default:
		e.Payload = journal.Payload{Encoding: journal.EncodingJSON, Data: fmt.Appendf(nil, `{"parcel": %d, "to": "Lima"}`, n)}
	}
	e.Issued = []journal.Issued{l.step(strand)}
	return e
}

func longName(strand int) string { return []string{"weigh", "pack", "label", "ship"}[strand%4] }

func (l *long) step(strand int) journal.Issued {
	l.cmd++
	l.open[strand] = l.cmd
	return journal.Issued{Kind: journal.CommandStep, Name: longName(strand)}
}

// PlantChildren starts so many children of a run that no node executes.
func (s *Server) PlantChildren(t testing.TB, parent journal.RunID, children int) {
	t.Helper()
	j := driver.New(s.store, nil)
	for n := 0; n < children; {
		var starts []journal.Start
		for ; n < children && len(starts) < journal.BatchMax; n++ {
			starts = append(starts, journal.Start{Workflow: "child", Queue: longQueue, Key: fmt.Sprintf("child-%05d", n),
				Parent: &journal.Parent{Run: parent, Generation: 1, Cmd: journal.Cmd(n + 1)}})
		}
		if _, err := j.Start(context.WithoutCancel(t.Context()), nil, starts); err != nil {
			t.Fatal(err)
		}
	}
}
