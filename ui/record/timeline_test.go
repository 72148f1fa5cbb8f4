package record_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/ui/record"
)

// script makes events of lines: KIND CMD INBOX NAME, with what was issued behind a bar. Each is a
// second after the one before.
func script(lines string) (events []journal.Event) {
	began := time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)
	kinds := map[string]journal.Kind{}
	for k, name := range journal.Kinds() {
		kinds[name] = k
	}
	issue := map[string]journal.CommandKind{"step": journal.CommandStep, "timer": journal.CommandTimer, "child": journal.CommandChild, "send": journal.CommandSend,
		"record": journal.CommandRecord, "cancel": journal.CommandCancel, "reply": journal.CommandReply}
	for i, line := range strings.Split(strings.TrimSpace(lines), "\n") {
		var e journal.Event
		var kind string
		told, issued, _ := strings.Cut(line, "|")
		_, _ = fmt.Sscan(told, &kind, &e.Cmd, &e.Inbox, &e.Name)
		e.Seq, e.Kind, e.Time, e.Attempt = journal.Seq(i+1), kinds[kind], began.Add(time.Duration(i)*time.Second), 2
		for _, text := range strings.Fields(issued) {
			word, name, _ := strings.Cut(text, ":")
			c := journal.Issued{Kind: issue[word], Name: name}
			switch c.Kind {
			case journal.CommandCancel:
				_, _ = fmt.Sscan(name, &c.Target)
			case journal.CommandReply:
				c.Detail = name
			case journal.CommandTimer:
				c.Due = e.Time.Add(time.Minute)
			}
			e.Issued = append(e.Issued, c)
		}
		events = append(events, e)
	}
	return events
}

// spansOf is a timeline as lines.
func spansOf(t *record.Timeline) string {
	var b strings.Builder
	for _, s := range t.Spans {
		end := "…"
		if s.EndAt != nil {
			end = fmt.Sprint(s.EndAt.Second())
		}
		fmt.Fprintf(&b, "%s %s #%d lane %d: %d-%s %s", s.Kind, s.Name, s.Cmd, s.Lane, s.BeginAt.Second(), end, s.Outcome)
		if s.DueAt != nil {
			fmt.Fprintf(&b, " due %s", s.DueAt.Sub(s.BeginAt))
		}
		if s.NextAt != nil {
			fmt.Fprintf(&b, " next after %d", s.Attempts)
		}
		b.WriteString("\n")
	}
	return b.String()
}

const story = `
RunStarted 0 0 | step:a step:b record:x timer:t
UpdateReceived 0 1 u | child:c
StepCompleted 1 0 a | send:s cancel:4 reply:1
SignalReceived 0 2 go | step:d
StepFailed 2 0 b | cancel:5
SignalRefused 6 3 s |
ChildFailed 5 4 c | timer:t
CancelRequested 0 5 |
`

// TestTimeline: each command is a span with its number, whatever stands between; cancelled timers get
// no event, and cancelled children do.
func TestTimeline(t *testing.T) {
	t.Parallel()
	line := func(text string, after, most int, task *journal.Task) *record.Timeline {
		l := record.NewTimeliner(after, most)
		for _, e := range script(text) {
			l.Add(&e)
		}
		return l.Answer(record.Run{ID: "x"}, 1, task)
	}
	task := &journal.Task{Generation: 1, Attempts: []journal.Attempt{{Cmd: 9, Made: 3, NextAt: time.Now()}}}
	const want = `step a #1 lane 0: 0-2 completed
step b #2 lane 1: 0-4 failed
timer t #4 lane 2: 0-2 cancelled due 1m0s
update u #0 lane 3: 1-2 completed
child c #5 lane 4: 1-6 failed
send s #6 lane 0: 2-5 refused
signal go #0 lane 2: 3-3 received
step d #9 lane 2: 3-… ` + ` next after 3
timer t #11 lane 0: 6-…  due 1m0s
cancel request  #0 lane 1: 7-7 received
`
	all := line(story, 0, 100, task)
	if got := spansOf(all); got != want {
		t.Errorf("the spans are\n%s\nwant\n%s", got, want)
	}
	if all.Lanes != 5 || all.Total != 10 || all.Events != 8 || all.Next != 0 || all.LastAt.Sub(all.BeginAt) != 7*time.Second {
		t.Errorf("the timeline is %+v", all)
	}
	got := ""
	for after := 0; ; {
		page := line(story, after, 3, task)
		if got += spansOf(page); page.Next == 0 {
			break
		}
		after = page.Next
	}
	if got != want {
		t.Errorf("the pages have\n%s\nwant\n%s", got, want)
	}
	closed := spansOf(line(story+"RunFailed 0 0 |", 0, 100, task))
	for _, want := range []string{"step d #9 lane 2: 3-8 left\n", "timer t #11 lane 0: 6-8 left due"} {
		if !strings.Contains(closed, want) {
			t.Errorf("behind the end the spans are\n%s, want %s", closed, want)
		}
	}
	if other := spansOf(line(story, 0, 100, &journal.Task{Generation: 2, Attempts: task.Attempts})); strings.Contains(other, "next") {
		t.Errorf("a generation has the attempts of another one:\n%s", other)
	}
}

// BenchmarkTimeline makes the timeline of a run of 50,000 events, 20 steps at once, and reports how
// large its JSON is.
func BenchmarkTimeline(b *testing.B) {
	var events []journal.Event
	at := time.Now()
	for i := range 50_000 {
		e := journal.Event{Seq: journal.Seq(i + 1), Kind: journal.StepCompleted, Cmd: journal.Cmd(i), Name: "charge the card", Time: at.Add(time.Duration(i) * time.Millisecond), Attempt: 1}
		issue := 1
		if i == 0 {
			e.Kind, e.Name, issue = journal.RunStarted, "", 20
		}
		for range issue {
			e.Issued = append(e.Issued, journal.Issued{Kind: journal.CommandStep, Name: "charge the card"})
		}
		events = append(events, e)
	}
	b.ReportAllocs()
	for b.Loop() {
		l := record.NewTimeliner(0, 50_000)
		for i := range events {
			l.Add(&events[i])
		}
		t := l.Answer(record.Run{}, 1, nil)
		text, err := json.Marshal(t)
		if err != nil || t.Lanes != 20 || len(t.Spans) != 50_000 {
			b.Fatalf("%d lanes, %d spans, %v", t.Lanes, len(t.Spans), err)
		}
		b.ReportMetric(float64(len(text))/1e6, "MB")
	}
}
