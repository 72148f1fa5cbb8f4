package replaytest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
)

// recordEpoch is when recorded runs start. It is fixed, so that a script gives the same bytes each
// time.
var recordEpoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// recordRun is the id of recorded runs. Their random numbers follow from it.
var recordRun = journal.RunID{0x01, 0x9b, 0x76, 0xda, 0xa8, 0x00, 0x70, 0, 0x80, 0, 0, 0, 0, 0, 0, 1}

// Record runs registered code against a script of what happens to it and returns the history. No
// step is executed: the script says how each ended. It has one line for each event:
//
//	run NAME[/VERSION] [INPUT]      comes first; values are JSON
//	completed STEP [OUTPUT]         the step of this name that was asked for first
//	failed STEP TYPE[!] MESSAGE     for good, with an error of this type; ! marks it permanent
//	fired [TIMER]                   the timer that is due first; time passes until it is due
//	child NAME [OUTPUT]             the child of this name that was started first completed
//	childfailed NAME TYPE[!] MESSAGE
//	sent NAME                       the signal of this name to another run has arrived
//	refused NAME TYPE[!] MESSAGE    it has not
//	signal NAME [PAYLOAD]
//	update NAME [ARGUMENT]
//	cancel [REASON]
//	terminated [REASON]
//
// Names with spaces stand in double quotes. A second passes before each line, or what the line
// begins with: +36h fired. When the code returns, the event that closes the run is added. Empty
// lines and those that begin with # are skipped.
func Record(r *Registry, script string) (*History, error) {
	rec := &recorder{registry: r, enc: r.encoder(), now: recordEpoch}
	defer rec.close()
	number := 0
	for text := range strings.Lines(script) {
		number++
		text = strings.TrimSpace(text)
		if text == "" || text[0] == '#' {
			continue
		}
		if err := rec.line(text); err != nil {
			return nil, fmt.Errorf("line %d of the script, %q: %w", number, text, err)
		}
	}
	if rec.machine == nil {
		return nil, errors.New("the script is empty")
	}
	return &History{Run: rec.machine.Info(), Events: rec.events}, nil
}

// recorder is a machine and what it has seen. It plays the driver: the script says what happens,
// and it says when and with which numbers.
type recorder struct {
	registry *Registry
	enc      *journal.Journal
	machine  *replay.Machine
	events   []journal.Event
	now      time.Time
	inbox    journal.InboxSeq
}

// close ends the coroutines of the machine, if a line of the script has made one.
func (r *recorder) close() {
	if r.machine != nil {
		r.machine.Close()
	}
}

// line plays one line of the script.
func (r *recorder) line(text string) error {
	pass := time.Second
	if after, ok := strings.CutPrefix(text, "+"); ok {
		d, rest, _ := strings.Cut(after, " ")
		var err error
		if pass, err = time.ParseDuration(d); err != nil || pass < 0 {
			return fmt.Errorf("%q is no duration", d)
		}
		text = strings.TrimSpace(rest)
	}
	verb, rest, _ := strings.Cut(text, " ")
	if (verb == "run") != (r.machine == nil) {
		return errors.New("a script begins with run, once")
	}
	if verb == "run" {
		return r.start(rest)
	}
	r.now = r.now.Add(pass)
	ev, err := r.event(verb, strings.TrimSpace(rest))
	if err != nil {
		return err
	}
	return r.step(ev)
}

// start makes the machine of the workflow that the script names, and gives it its first event.
func (r *recorder) start(rest string) error {
	name, input, err := word(rest)
	if err != nil {
		return err
	}
	info := replay.Info{Run: recordRun, Workflow: name, Version: 1, Queue: journal.DefaultQueue, Generation: 1, StartAt: r.now}
	if before, version, ok := strings.Cut(name, "/"); ok {
		if v, err := strconv.ParseInt(version, 10, 32); err == nil {
			info.Workflow, info.Version = before, int32(v)
		}
	}
	if info.Input, err = value(input); err != nil {
		return err
	}
	def, err := r.registry.find(&info)
	if err != nil {
		return err
	}
	r.machine = replay.New(def, info, r.enc)
	return r.step(journal.Event{Kind: journal.RunStarted})
}

// step applies an event, and the terminal one if the code has returned. What the code asks for is
// not executed: the lines that follow say how it ended. Updates that a validator refuses are
// errors of the script, because a refused update is no event.
func (r *recorder) step(ev journal.Event) error {
	for {
		ev.Seq, ev.Time = r.machine.LastSeq()+1, r.now
		if err := r.machine.Step(&ev); err != nil {
			return err
		}
		r.events = append(r.events, ev)
		d := r.machine.Take()
		if d.Terminal == nil {
			return nil
		}
		ev = *d.Terminal
	}
}

// event returns the event of a line. It finds the command that the event answers by its name.
func (r *recorder) event(verb, rest string) (ev journal.Event, err error) {
	switch verb {
	case "completed":
		return r.outcome(journal.StepCompleted, rest, succeeded)
	case "failed":
		return r.outcome(journal.StepFailed, rest, failed)
	case "child":
		return r.answer(journal.ChildCompleted, journal.CommandChild, rest, succeeded)
	case "childfailed":
		return r.answer(journal.ChildFailed, journal.CommandChild, rest, failed)
	case "sent":
		return r.answer(journal.SignalSent, journal.CommandSend, rest, succeeded)
	case "refused":
		return r.answer(journal.SignalRefused, journal.CommandSend, rest, failed)
	case "fired":
		return r.fired(rest)
	case "signal":
		return r.message(journal.SignalReceived, rest)
	case "update":
		if ev, err = r.message(journal.UpdateReceived, rest); err == nil {
			err = r.machine.CheckUpdate(ev.Name, ev.Payload)
		}
		return ev, err
	case "cancel":
		r.inbox++
		f := &journal.Failure{Type: journal.FailureCancelled, Message: rest, Permanent: true}
		return journal.Event{Kind: journal.CancelRequested, Inbox: r.inbox, Payload: journal.EncodeFailure(f)}, nil
	case "terminated":
		f := &journal.Failure{Type: journal.FailureTerminate, Message: rest, Permanent: true}
		return journal.Event{Kind: journal.RunTerminated, Payload: journal.EncodeFailure(f)}, nil
	}
	return ev, fmt.Errorf("no verb %q", verb)
}

// succeeded is the payload of an outcome that has a value.
func succeeded(rest string) (journal.Payload, error) { return value(rest) }

// failed is the payload of an outcome that is an error: its type, and its text.
func failed(rest string) (journal.Payload, error) {
	kind, message, err := word(rest)
	kind, permanent := strings.CutSuffix(kind, "!")
	return journal.EncodeFailure(&journal.Failure{Type: kind, Message: message, Permanent: permanent}), err
}

// message is an event from the inbox that answers nothing: a signal or an update.
func (r *recorder) message(kind journal.Kind, rest string) (ev journal.Event, err error) {
	r.inbox++
	ev = journal.Event{Kind: kind, Inbox: r.inbox}
	if ev.Name, rest, err = word(rest); err == nil {
		ev.Payload, err = value(rest)
	}
	return ev, err
}

// answer is what another run answers to a command: a child's outcome, or whether a signal
// arrived.
func (r *recorder) answer(kind journal.Kind, command journal.CommandKind, rest string, payload func(string) (journal.Payload, error)) (journal.Event, error) {
	name, rest, err := word(rest)
	if err != nil {
		return journal.Event{}, err
	}
	cmd := journal.Cmd(0) // each entry of Issued takes a number, so counting them finds it
	for i := range r.events {
		for _, c := range r.events[i].Issued {
			if cmd++; c.Kind != command || c.Name != name || !r.machine.Waits(cmd) {
				continue
			}
			r.inbox++
			ev := journal.Event{Kind: kind, Cmd: cmd, Inbox: r.inbox, Name: name}
			ev.Payload, err = payload(rest)
			return ev, err
		}
	}
	return journal.Event{}, fmt.Errorf("no %s %q is open; the run waits for %s", command, name, strings.Join(r.machine.Waiting(), ", "))
}

// outcome is how a step ended.
func (r *recorder) outcome(kind journal.Kind, rest string, payload func(string) (journal.Payload, error)) (journal.Event, error) {
	name, rest, err := word(rest)
	if err != nil {
		return journal.Event{}, err
	}
	var pending []string
	for _, s := range r.machine.Pending() {
		if s.Name == name {
			ev := journal.Event{Kind: kind, Cmd: s.Cmd, Name: name, Attempt: 1}
			ev.Payload, err = payload(rest)
			return ev, err
		}
		pending = append(pending, s.Name)
	}
	return journal.Event{}, fmt.Errorf("no step %q is open; the run waits for %s, open steps are %q",
		name, strings.Join(r.machine.Waiting(), ", "), pending)
}

// fired is the firing of the timer that is due first. Time passes until it is due.
func (r *recorder) fired(rest string) (journal.Event, error) {
	name, _, err := word(rest)
	timer, armed := r.machine.NextTimer()
	if !armed || rest != "" && (err != nil || name != timer.Name) {
		return journal.Event{}, fmt.Errorf("the next timer is not %q but %q (armed: %v)", rest, timer.Name, armed)
	}
	if r.now.Before(timer.Due) {
		r.now = timer.Due
	}
	return timer.Event(), nil
}

// word cuts off the first word, or the first text in quotes.
func word(s string) (first, rest string, err error) {
	s = strings.TrimSpace(s)
	if s == "" {
		return "", "", errors.New("a name is missing")
	}
	if s[0] != '"' {
		first, rest, _ = strings.Cut(s, " ")
		return first, strings.TrimSpace(rest), nil
	}
	quoted, err := strconv.QuotedPrefix(s)
	if err != nil {
		return "", "", fmt.Errorf("%s: %w", s, err)
	}
	first, err = strconv.Unquote(quoted)
	return first, strings.TrimSpace(s[len(quoted):]), err
}

// value is a payload in JSON, compact as the codec writes it; empty for no value.
func value(text string) (journal.Payload, error) {
	if text == "" {
		return journal.Payload{}, nil
	}
	data := compact([]byte(text))
	if data == nil {
		return journal.Payload{}, fmt.Errorf("%s is not JSON", text)
	}
	return journal.Payload{Data: data}, nil
}
