package journaltest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// What is refused is refused before anything is written, by an error that says what was too large
// or wrong.
var limitChecks = []check{
	{"Limit_BadStartsAreRefusedBeforeAnythingIsStored", badStarts},
	{"Limit_BadMessagesAreRefused", badMessages},
	{"Limit_OversizedCommitIsRefused", oversizedCommit},
	{"Limit_BadListsAndNodes", badListsAndNodes},
}

// What cannot be stored is refused before anything of it is, with an error that names the field.
func badStarts(k *kit) {
	long := strings.Repeat("x", 1000)
	many := map[string]string{}
	for i := range journal.LabelsMax + 1 {
		many[fmt.Sprint(i)] = ""
	}
	big := journal.Payload{Data: make([]byte, journal.PayloadBytesMax+1)}
	bad := map[string]journal.Start{
		"no workflow":        {},
		"long workflow":      {Workflow: long},
		"workflow not UTF-8": {Workflow: "\xff"},
		"workflow with NUL":  {Workflow: "a\x00"},
		"newline":            {Workflow: "a\nb"},
		"long queue":         {Workflow: flow, Queue: long},
		"long key":           {Workflow: flow, Key: long},
		"reserved key":       {Workflow: flow, Key: "~x"},
		"key with NUL":       {Workflow: flow, Key: "a\x00"},
		"many labels":        {Workflow: flow, Labels: many},
		"empty label":        {Workflow: flow, Labels: map[string]string{"": "x"}},
		"long label":         {Workflow: flow, Labels: map[string]string{long: "x"}},
		"long label value":   {Workflow: flow, Labels: map[string]string{"x": long}},
		"label not UTF-8":    {Workflow: flow, Labels: map[string]string{"x": "\xff"}},
		"negative delay":     {Workflow: flow, Delay: -1},
		"negative timeout":   {Workflow: flow, Timeout: -1},
		"endless timeout":    {Workflow: flow, Timeout: journal.DelayMax + 1},
		"header unnamed":     {Workflow: flow, Headers: map[string]string{"": "v"}},
		"header of lines":    {Workflow: flow, Headers: map[string]string{"k": "a\nb"}},
		"headers too large":  {Workflow: flow, Headers: map[string]string{"k": strings.Repeat("x", journal.HeadersBytesMax)}},
		"failure of bytes":   {Workflow: flow, OnFailure: "a\xff"},
		"endless delay":      {Workflow: flow, Delay: journal.DelayMax + 1},
		"low priority":       {Workflow: flow, Priority: journal.PriorityMax + 1},
		"high priority":      {Workflow: flow, Priority: -1},
		"version":            {Workflow: flow, Version: -1},
		"policy":             {Workflow: flow, Reuse: 9},
		"long trace":         {Workflow: flow, Trace: long},
		"big input":          {Workflow: flow, Input: big},
		"bad encoding":       {Workflow: flow, Input: journal.Payload{Encoding: "\x00"}},
	}
	var names []string
	var batch []journal.Start
	for name, s := range bad {
		names, batch = append(names, name), append(batch, s)
	}
	batch = append(batch, journal.Start{Workflow: flow, Key: "good"})
	out, err := k.j.Start(k.ctx, nil, batch)
	k.ok(err)
	for i, name := range names {
		if !errors.Is(out[i].Err, journal.ErrInvalid) || out[i].Created {
			k.t.Errorf("%s: %+v, want ErrInvalid", name, out[i])
		}
	}
	k.ok(out[len(names)].Err)
	k.same("runs", k.listed(journal.ListFilter{}), []string{"good"})
}

// Messages with bad names, keys, kinds or payloads are refused, each for itself.
func badMessages(k *kit) {
	run := k.begin(1)[0]
	big := journal.Payload{Data: make([]byte, journal.PayloadBytesMax+1)}
	bad := []journal.Message{
		{Kind: journal.MessageSignal, Name: "no run"},
		{Run: run, Kind: journal.MessageSignal},
		{Run: run, Kind: journal.MessageSignal, Name: "a\x00"},
		{Run: run, Kind: journal.MessageSignal, Name: "a", Key: "~reserved"},
		{Run: run, Kind: journal.MessageSignal, Name: "a", Key: strings.Repeat("k", journal.KeyBytesMax+1)},
		{Run: run, Kind: journal.MessageSignal, Name: "a", Payload: big},
		{Run: run, Name: "no kind"},
	}
	for i, s := range k.sends(append(bad, signal(run, "good", ""))...) {
		if i < len(bad) != errors.Is(s.Err, journal.ErrInvalid) {
			k.t.Errorf("message %d: %+v", i, s)
		}
	}
	k.same("inbox", len(k.history(run).Inbox), 1)
}

// A commit beyond a limit is refused as a whole before it reaches the store.
func oversizedCommit(k *kit) {
	o := k.one(k.join(leaseLong).ID())
	events := make([]journal.Event, journal.CommitEventsMax+1)
	events[0] = started()
	for i := range events[1:] {
		events[i+1] = journal.Event{Kind: journal.SignalReceived, Inbox: journal.InboxSeq(i + 1), Name: "s"}
	}
	big := completed("")
	big.Payload.Data = make([]byte, journal.PayloadBytesMax+1)
	attempts := o.build(keep, started())
	attempts.Attempts = make([]journal.Attempt, journal.AttemptsMax+1)
	for name, c := range map[string]driver.Commit{
		"events": o.build(keep, events...), "payload": o.build(closed, started(), big), "attempts": attempts,
		"no terminal event": o.build(closed, started()), "early terminal event": o.build(keep, started(), completed("1")),
	} {
		if _, err := k.j.Commit(k.ctx, []driver.Commit{c}); !errors.Is(err, journal.ErrInvalid) {
			k.t.Errorf("%s: got %v, want ErrInvalid", name, err)
		}
	}
	k.same("events", len(k.history(o.run).Events), 0)
	o.commit(closed, started(), completed("1"))
}

// Filters and nodes beyond a limit are refused too.
func badListsAndNodes(k *kit) {
	for name, f := range map[string]journal.ListFilter{
		"limit": {Limit: journal.ListMax + 1}, "negative limit": {Limit: -1}, "ids": {IDs: make([]journal.RunID, journal.BatchMax+1)},
	} {
		if _, err := k.j.List(k.ctx, f); !errors.Is(err, journal.ErrInvalid) {
			k.t.Errorf("%s: %v", name, err)
		}
	}
	if m, err := k.j.Join(k.ctx, journal.Node{Name: "", Lease: time.Minute}); !errors.Is(err, journal.ErrInvalid) {
		k.t.Errorf("a node without a name joined: %v, %v", m, err)
	}
}
