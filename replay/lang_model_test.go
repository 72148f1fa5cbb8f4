package replay_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
)

// langModel is what a history says about the commands and messages of one generation, without
// running code.
type langModel struct {
	commands []langCommand // command n is at n-1
	number   int           // the newest signal delivered that the program receives
	signals  map[journal.InboxSeq]int
	updates  []journal.InboxSeq
	cancel   journal.InboxSeq
}

type langCommand struct {
	journal.Issued
	open bool
}

func (m *langModel) open(cmd journal.Cmd) bool {
	return cmd > 0 && int(cmd) <= len(m.commands) && m.commands[cmd-1].open
}

// apply takes an event and what the code issued in reaction to it.
func (m *langModel) apply(t *testing.T, ev *journal.Event) {
	if m.signals == nil {
		m.signals = map[journal.InboxSeq]int{}
	}
	switch ev.Kind {
	case journal.SignalReceived:
		n := 0
		if ev.Name == "number" {
			_, _ = fmt.Sscan(string(ev.Payload.Data), &n)
			m.number = n
		}
		m.signals[ev.Inbox] = n
	case journal.UpdateReceived:
		m.updates = append(m.updates, ev.Inbox)
	case journal.CancelRequested:
		m.cancel = ev.Inbox
	}
	if ev.Cmd != 0 {
		if !m.open(ev.Cmd) {
			t.Errorf("event %d is a second outcome of command %d", ev.Seq, ev.Cmd)
		}
		m.commands[ev.Cmd-1].open = false
	}
	for _, i := range ev.Issued {
		c := langCommand{Issued: i}
		switch i.Kind {
		case journal.CommandStep, journal.CommandTimer, journal.CommandChild, journal.CommandSend:
			c.open = true
		case journal.CommandCancel:
			target := &m.commands[i.Target-1]
			if !target.open || target.Kind == journal.CommandSend {
				t.Errorf("event %d cancels command %d, which is not open", ev.Seq, i.Target)
			}
			target.open = target.Kind != journal.CommandTimer && !leaves(target.Name)
		}
		m.commands = append(m.commands, c)
	}
}

// leaves tells whether the cancellation of a step or a child is its outcome.
func leaves(name string) bool {
	return strings.HasSuffix(name, "/try") || strings.HasSuffix(name, "/abandon")
}

// check compares the machine and its decision with the model.
func (m *langModel) check(t *testing.T, machine *replay.Machine, ev *journal.Event, d *replay.Decision, g journal.Generation) {
	first := journal.Cmd(len(m.commands) - len(ev.Issued) + 1)
	var want, got []string
	for i, c := range ev.Issued {
		cmd := first + journal.Cmd(i)
		switch c.Kind {
		case journal.CommandStep:
			if m.open(cmd) && d.Terminal == nil {
				want = append(want, fmt.Sprint("step ", cmd, c.Name))
			}
		case journal.CommandChild:
			want = append(want, fmt.Sprint("child ", cmd, g, c.Name))
		case journal.CommandSend:
			want = append(want, fmt.Sprint("send ", cmd, g, c.Name, c.Detail))
		case journal.CommandReply:
			want = append(want, "reply "+c.Detail)
		case journal.CommandCancel:
			if target := m.commands[c.Target-1]; target.Kind == journal.CommandChild && !strings.HasSuffix(target.Name, "/abandon") {
				want = append(want, "stop a child")
			}
		}
	}
	if d.Continue != nil {
		for _, n := range m.unanswered() {
			want = append(want, fmt.Sprint("reply ", n))
		}
	}
	for _, s := range d.Steps {
		got = append(got, fmt.Sprint("step ", s.Cmd, s.Name))
	}
	for _, s := range d.Starts {
		got = append(got, fmt.Sprint("child ", s.Parent.Cmd, s.Parent.Generation, s.Workflow))
	}
	for _, s := range d.Messages {
		if s.Cmd == 0 {
			got = append(got, "stop a child")
		} else {
			got = append(got, fmt.Sprint("send ", s.Cmd, s.Generation, s.Name, s.Run))
		}
	}
	for _, r := range d.Replies {
		got = append(got, fmt.Sprint("reply ", r.Number))
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		t.Errorf("event %d issued %v\nso the decision should be %q\nbut is                 %q", ev.Seq, ev.Issued, want, got)
	}
	steps := !slices.ContainsFunc(ev.Issued, func(i journal.Issued) bool { return i.Kind != journal.CommandStep })
	if want := steps && len(d.Steps) > 0 && d.Terminal == nil; d.OnlySteps != want {
		t.Errorf("event %d issued %v, and OnlySteps is %v", ev.Seq, ev.Issued, d.OnlySteps)
	}
	for n := range m.commands {
		cmd := journal.Cmd(n + 1)
		if open := m.open(cmd) && d.Terminal == nil; machine.Waits(cmd) != open {
			t.Errorf("event %d: command %d %v is open: model %v, machine %v", ev.Seq, cmd, m.commands[n], open, !open)
		}
	}
}

// unanswered lists the updates that were accepted and whose handlers have not answered.
func (m *langModel) unanswered() []journal.InboxSeq {
	return slices.DeleteFunc(slices.Clone(m.updates), func(n journal.InboxSeq) bool {
		return slices.ContainsFunc(m.commands, func(c langCommand) bool {
			return c.Kind == journal.CommandReply && c.Detail == fmt.Sprint(n)
		})
	})
}

// carried lists the messages that the next generation gets again: signals behind the last one
// received, and a cancel request. An update comes once.
func (m *langModel) carried(last int) []journal.InboxSeq {
	var list []journal.InboxSeq
	for number, n := range m.signals {
		if n == 0 || n > last {
			list = append(list, number)
		}
	}
	if m.cancel != 0 {
		list = append(list, m.cancel)
	}
	slices.Sort(list)
	return list
}
