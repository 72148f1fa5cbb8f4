package journaltest

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// A store keeps bytes and text exactly as they came. Databases have their own ideas of zero bytes,
// invalid text, empty strings and null.
var payloadChecks = []check{
	{"Payload_EveryByteSurvives", payloadBytes},
	{"Payload_UpToTheLimit", payloadAtTheLimit},
	{"Payload_TextSurvives", payloadText},
}

func payloads() map[string]journal.Payload {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	return map[string]journal.Payload{
		"nothing":        {},
		"empty":          {Data: []byte{}},
		"one byte":       {Data: []byte{0}},
		"every byte":     {Data: all, Encoding: "bin"},
		"escaped NUL":    {Data: []byte(`"\u0000"`)},
		"raw NUL":        {Data: []byte("\"a\x00b\"")},
		"invalid UTF-8":  {Data: []byte{0xff, 0xfe, '"', 0xc3}},
		"text of bytea":  {Data: []byte(`\x00ff`)},
		"lone surrogate": {Data: []byte(`"\ud800"`)},
		"spaces":         {Data: []byte(" { \"b\":1,  \"a\":1.0e400, \"b\":2 }\n")},
		"encoding only":  {Encoding: "ünï/code+1"},
		"not a failure":  {Encoding: journal.EncodingFailure, Data: []byte("{")},
		"a megabyte":     {Data: bytes.Repeat([]byte{0, 1, 254, 255}, 1<<18)},
	}
}

// payloadBytes stores each payload everywhere a payload can be.
func payloadBytes(k *kit) {
	node := k.join(leaseLong).ID()
	for name, p := range payloads() {
		o := k.takeStarted(node, journal.Start{Input: p})
		k.sends(journal.Message{Run: o.run, Kind: journal.MessageSignal, Name: "sig", Key: "1", Payload: p})
		samePayload(k, name+" in the inbox", k.history(o.run).Inbox[0].Payload, p)
		step := stepDone(1, "a", "")
		step.Payload = p
		c := o.build(keep, started("a", "b"), received(journal.Message{Kind: journal.MessageSignal, Name: "sig", Number: 1}), step)
		c.Attempts = []journal.Attempt{{Cmd: 2, Name: "b", Made: 1, NextAt: k.j.Now(), Heartbeat: &p}}
		o.submit(c)
		h := k.history(o.run)
		samePayload(k, name+" as input", h.Run.Input, p)
		samePayload(k, name+" of a consumed message", h.Events[1].Payload, p)
		samePayload(k, name+" of a step", h.Events[2].Payload, p)
		samePayload(k, name+" of a heartbeat", *h.Run.Task.Attempts[0].Heartbeat, p)
		end := completed("")
		end.Payload = p
		o.commit(closed, end)
		samePayload(k, name+" as output", k.row(o.run).Terminal.Payload, p)
	}
}

// samePayload compares without printing a megabyte.
func samePayload(k *kit, what string, got, want journal.Payload) {
	k.t.Helper()
	if got.Encoding != want.Encoding || !bytes.Equal(got.Data, want.Data) {
		k.t.Errorf("%s: %d bytes in %q, want %d in %q", what, len(got.Data), got.Encoding, len(want.Data), want.Encoding)
	}
}

// A payload of exactly the limit is stored, and one byte more is refused.
func payloadAtTheLimit(k *kit) {
	node := k.join(leaseLong).ID()
	p := journal.Payload{Data: bytes.Repeat([]byte("\x00x"), journal.PayloadBytesMax/2)}
	o := k.takeStarted(node, journal.Start{Input: p})
	k.sends(journal.Message{Run: o.run, Kind: journal.MessageSignal, Name: "sig", Payload: p})
	end := completed("")
	end.Payload = p
	o.commit(closed, started(), received(journal.Message{Kind: journal.MessageSignal, Name: "sig", Number: 1}), end)
	h := k.history(o.run)
	samePayload(k, "input", h.Run.Input, p)
	samePayload(k, "message", h.Events[1].Payload, p)
	samePayload(k, "output", h.Events[2].Payload, p)
}

// Text of every kind survives in names, keys, labels and reasons: other scripts, quotes, what
// looks like a pattern.
func payloadText(k *kit) {
	texts := []string{
		"a", strings.Repeat("n", journal.NameBytesMax), "Ærøskøbing 🙂", `quote ' " \ back`, "%s $1 {}", "NULL", "null", " lead and trail ",
	}
	for i, text := range texts {
		route := journal.Route{Queue: text, Workflow: text, Version: 1}
		node := k.join(leaseLong, route).ID()
		key := text + fmt.Sprint(i)
		id := k.starts(journal.Start{Workflow: text, Queue: text, Key: key, Labels: map[string]string{"l": text}})[0].Run
		take := func() *owner {
			k.t.Helper()
			c, err := k.j.Claim(k.ctx, driver.ClaimRequest{Node: node, Routes: []journal.Route{route}, Max: 1})
			k.ok(err)
			return k.owner(node, c.Tasks[0])
		}
		o := take()
		k.send(o.run, text, key)
		step := stepDone(1, text, "1")
		commit := o.build(release, started(text),
			received(journal.Message{Kind: journal.MessageSignal, Name: text, Number: 1}), step)
		commit.Waiting = []string{text, text}
		o.submit(commit)
		h := k.history(id)
		for what, got := range map[string]string{
			"workflow": h.Run.Workflow, "queue": h.Run.Queue, "label": h.Run.Labels["l"], "issued": h.Events[0].Issued[0].Name,
			"signal": h.Events[1].Name, "step": h.Events[2].Name, "waiting": h.Run.Task.Waiting[1],
		} {
			k.same(what, got, text)
		}
		k.same("key", h.Run.Key, key)
		take().commit(block(text+"\nsecond line", k.j.Now()))
		k.same("problem", k.history(id).Run.Task.Problem, text+"\nsecond line")
	}
}
