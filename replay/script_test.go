package replay_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/replay/replaytest"
)

var update = flag.Bool("update", false, "rewrite the reactions in testdata/scripts, and keep histories of new scripts")

// TestScripts runs testdata/scripts/*.txt. A script is a list of directives; the indented lines
// below each are the printed reaction. Directives are:
//
//	workflow NAME                  the code, from the registry
//	started
//	completed CMD [JSON]           an outcome of a step; its name is known
//	failed CMD TYPE MESSAGE        TYPE! is permanent, "cancelled" the executor's own
//	fired CMD                      not before it is due
//	signal NAME [JSON]
//	child CMD [JSON]               an outcome of a child
//	lost CMD TYPE MESSAGE          a child that does not complete; types as above, or "terminated" or "key"
//	sent CMD                       the answer to a signal to another run
//	unsent CMD TYPE MESSAGE        and its refusal: "closed" or "unknown"
//	update NAME [JSON]             no event if it is rejected
//	query NAME [JSON]              no event, prints the answer
//	cancel [REASON]
//	terminal                       commits the decision
//	terminated
//	event KIND CMD NAME            anything else
//	replay NAME                    replays the history with other code
//	budget N                       how many actions the code has for an event, instead of a million
//	close
//
// A directive may begin with +DURATION: time that passes before it; else it is a second. After the
// script the history is replayed from every prefix.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/scripts/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d scripts, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) { runScript(t, file) })
	}
}

func runScript(t *testing.T, file string) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s := &script{t: t, name: strings.TrimSuffix(filepath.Base(file), ".txt")}
	defer s.close()
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, "    "):
			continue
		case line == "" || strings.HasPrefix(line, "#"):
			s.out.WriteString(line + "\n")
		default:
			s.out.WriteString(line + "\n")
			s.run(strings.Fields(line))
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(s.out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(string(data), s.out.String()); diff != "" {
		t.Errorf("(-file +now)\n%s", diff)
	}
}

type script struct {
	t        *testing.T
	name     string
	kept     int // workflows so far
	def      *replay.Definition
	rig      *rig
	out      strings.Builder
	now      time.Time
	inbox    journal.InboxSeq
	names    map[journal.Cmd]string // of steps, children and signals that were ever handed out
	said     string
	terminal *journal.Event
}

func (s *script) print(format string, args ...any) {
	for line := range strings.Lines(fmt.Sprintf(format, args...)) {
		s.out.WriteString("    " + strings.TrimRight(line, "\n") + "\n")
	}
}

// close ends a workflow of the script and checks its history.
func (s *script) close() {
	if s.rig != nil {
		s.rig.m.Close()
		checkPrefixes(s.t, s.def, s.rig.history)
		s.keep()
	}
}

// keep makes a golden history out of what the script led to, unless there is one.
func (s *script) keep() {
	s.kept++
	file := fmt.Sprintf("testdata/histories/%s_%d.json", s.name, s.kept)
	if _, err := os.Stat(file); !*update || err == nil || len(s.rig.history) == 0 {
		return
	}
	info := s.rig.m.Info()
	info.Labels = map[string]string{"said": ""}
	if err := replaytest.WriteFile(file, &replaytest.History{Run: info, Events: s.rig.history}); err != nil {
		s.t.Error(err)
	}
}

// TestHistories: histories that any earlier release wrote are replayed as they were, with every
// prefix. Those here were made by the scripts; they are only added to.
func TestHistories(t *testing.T) {
	var code replaytest.Registry
	for _, def := range workflows {
		code.Add(def)
	}
	replaytest.Golden(t, &code, "testdata/histories")
}

func (s *script) run(words []string) {
	pass := time.Second
	if d, ok := strings.CutPrefix(words[0], "+"); ok {
		var err error
		if pass, err = time.ParseDuration(d); err != nil {
			s.t.Fatal(err)
		}
		words = words[1:]
	}
	switch words[0] {
	case "workflow":
		s.start(words[1])
		return
	case "replay":
		s.replay(words[1])
		return
	case "close":
		s.rig.m.Close()
		s.printSaid()
		return
	case "budget":
		n, err := strconv.Atoi(words[1])
		if err != nil {
			s.t.Fatal(err)
		}
		s.rig.m.SetBudget(n)
		return
	case "query":
		answer, err := s.rig.m.Query(words[1], journal.Payload{Data: []byte(strings.Join(words[2:], " "))})
		if err != nil {
			s.print("answer: %s", unplaced(err.Error()))
			return
		}
		s.print("answer: %s", answer.Data)
		return
	}
	s.now = s.now.Add(pass)
	s.event(words)
}

func (s *script) start(name string) {
	s.close()
	if s.def = workflows[name]; s.def == nil {
		s.t.Fatalf("no workflow %q", name)
	}
	s.rig, s.now, s.inbox, s.said = newRig(s.def), epoch.Add(-time.Second), 0, ""
	s.names = map[journal.Cmd]string{}
}

func (s *script) event(words []string) {
	ev := s.parse(words)
	if ev.Kind == journal.UpdateReceived {
		if err := s.rig.m.CheckUpdate(ev.Name, ev.Payload); err != nil {
			s.print("rejected: %s", unplaced(err.Error()))
			return
		}
	}
	a, err := s.rig.step(ev)
	for _, line := range a.Issued {
		s.print("< %s", line)
	}
	s.printSaid()
	s.decision()
	if len(a.Waiting) > 0 {
		s.print("waiting: %s", strings.Join(a.Waiting, ", "))
	}
	if err != nil {
		s.print("error: %s", a.Error)
		s.printStack(err)
	}
}

// printStack shows that a panic's stack names the user's code.
func (s *script) printStack(err error) {
	var p *replay.PanicError
	if errors.As(err, &p) && !strings.Contains(p.Stack, "workflows_test.go") {
		s.print("the stack does not show the workflow:\n%s", p.Stack)
	}
}

func (s *script) printSaid() {
	if now := s.rig.said["said"]; now != s.said {
		for line := range strings.Lines(strings.TrimPrefix(now, s.said)) {
			s.print("says: %s", line)
		}
		s.said = now
	}
}

func (s *script) decision() {
	d := s.rig.m.Take()
	for _, step := range d.Steps {
		s.names[step.Cmd] = step.Name
		if step.Cancelled {
			s.print("step %d is born cancelled", step.Cmd)
		}
	}
	s.effects(&d)
	if d.OnlySteps {
		s.print("only steps")
	}
	if len(d.CancelSteps) > 0 {
		s.print("stop steps: %v", d.CancelSteps)
	}
	if len(d.DropSteps) > 0 {
		s.print("drop steps: %v", d.DropSteps)
	}
	if d.Terminal != nil {
		s.terminal = d.Terminal
		s.print("%s", describe(d.Terminal))
	}
	if d.Children {
		s.print("children may be open")
	}
	if n := d.Continue; n != nil {
		s.print("next generation: version %d, input %s, seen %d, carried %v", n.Version, n.Input.Data, n.Seen, n.Carried)
	}
}

// effects prints what a decision does to others.
func (s *script) effects(d *replay.Decision) {
	for _, st := range d.Starts {
		s.names[st.Parent.Cmd] = st.Workflow
		s.print("start %d: %s %s", st.Parent.Cmd, st.ID, st.Input.Data)
	}
	for _, m := range d.Messages {
		if m.Cmd != 0 {
			s.names[m.Cmd] = m.Name
		}
		s.print("send %d: %s %s to %s %s", m.Cmd, m.Kind, m.Name, m.Run, m.Payload.Data)
	}
	for _, r := range d.Replies {
		s.print("reply to %d: %s", r.Number, r.Payload.Data)
	}
}

func describe(ev *journal.Event) string {
	text := string(ev.Payload.Data)
	if f, err := journal.DecodeFailure(ev.Payload); err == nil {
		data, _ := json.Marshal(f)
		text = string(data)
	}
	return ev.Kind.String() + " " + text
}

func (s *script) parse(words []string) journal.Event {
	arg := func(i int) string {
		if i < len(words) {
			return strings.Join(words[i:], " ")
		}
		return ""
	}
	number := func() journal.Cmd {
		n, err := strconv.Atoi(words[1])
		if err != nil {
			s.t.Fatal(err)
		}
		return journal.Cmd(n)
	}
	ev := journal.Event{}
	switch words[0] {
	case "started":
		ev.Kind = journal.RunStarted
	case "completed":
		ev.Kind, ev.Cmd, ev.Attempt = journal.StepCompleted, number(), 1
		ev.Name, ev.Payload.Data = s.names[ev.Cmd], []byte(arg(2))
	case "failed":
		ev.Kind, ev.Cmd, ev.Attempt = journal.StepFailed, number(), 3
		ev.Name, ev.Payload = s.names[ev.Cmd], failure(words[2], arg(3))
	case "fired":
		ev.Kind, ev.Cmd = journal.TimerFired, number()
		if t, ok := s.rig.m.NextTimer(); ok && t.Due.After(s.now) {
			s.now = t.Due
		}
		ev.Name = arg(2)
	case "signal":
		s.inbox++
		ev.Kind, ev.Name, ev.Inbox, ev.Payload.Data = journal.SignalReceived, words[1], s.inbox, []byte(arg(2))
	case "cancel":
		s.inbox++
		ev.Kind, ev.Inbox = journal.CancelRequested, s.inbox
		ev.Payload = journal.EncodeFailure(&journal.Failure{Type: journal.FailureCancelled, Message: arg(1)})
	case "child", "lost", "sent", "unsent":
		s.inbox++
		ev.Kind, ev.Cmd, ev.Inbox = answerKinds[words[0]], number(), s.inbox
		if ev.Name = s.names[ev.Cmd]; words[0] == "child" {
			ev.Payload.Data = []byte(arg(2))
		} else if words[0] != "sent" {
			ev.Payload = failure(words[2], arg(3))
		}
	case "update":
		s.inbox++
		ev.Kind, ev.Name, ev.Inbox, ev.Payload.Data = journal.UpdateReceived, words[1], s.inbox, []byte(arg(2))
	case "terminal":
		if s.terminal == nil {
			s.t.Fatalf("%s: the run has not ended", strings.Join(words, " "))
		}
		ev = *s.terminal
	case "terminated":
		ev.Kind = journal.RunTerminated
	case "event":
		n, err := strconv.Atoi(words[1])
		if err != nil {
			s.t.Fatal(err)
		}
		ev.Kind = journal.Kind(n)
		ev.Name = arg(3)
		n, err = strconv.Atoi(words[2])
		if err != nil {
			s.t.Fatal(err)
		}
		ev.Cmd = journal.Cmd(n)
	default:
		s.t.Fatalf("no directive %q", words[0])
	}
	ev.Time = s.now
	return ev
}

var answerKinds = map[string]journal.Kind{
	"child": journal.ChildCompleted, "lost": journal.ChildFailed, "sent": journal.SignalSent, "unsent": journal.SignalRefused,
}

// failureTypes are words for those of the engine.
var failureTypes = map[string]string{
	"cancelled": journal.FailureCancelled, "timeout": journal.FailureTimeout, "terminated": journal.FailureTerminate,
	"key": journal.FailureKeyExists, "closed": journal.FailureClosed, "unknown": journal.FailureNotFound,
}

func failure(kind, message string) journal.Payload {
	f := &journal.Failure{Type: kind, Message: message}
	if t, ok := failureTypes[kind]; ok {
		f.Type = t
	} else if strings.HasSuffix(kind, "!") {
		f.Type, f.Permanent = strings.TrimSuffix(kind, "!"), true
	}
	return journal.EncodeFailure(f)
}

// replay prints how other code takes the history so far.
func (s *script) replay(name string) {
	def := workflows[name]
	if def == nil {
		s.t.Fatalf("no workflow %q", name)
	}
	r := newRig(def)
	defer r.m.Close()
	for i := range s.rig.history {
		ev := s.rig.history[i]
		if err := r.m.Replay(&ev); err != nil {
			s.print("error: %s", unplaced(err.Error()))
			if again := r.m.Replay(&ev); again != err {
				s.print("then: %v", again)
			}
			return
		}
	}
	s.print("fits")
}
