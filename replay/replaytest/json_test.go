package replaytest_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/replay/replaytest"
)

// TestRoundTrip: any history comes back from its bytes, which are always the same.
func TestRoundTrip(t *testing.T) {
	for seed := range uint64(200) {
		h := (&maker{rand.New(rand.NewPCG(seed, 1))}).history()
		data, err := replaytest.Marshal(h)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		again, err := replaytest.Unmarshal(data)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, data)
		}
		if diff := cmp.Diff(h, again); diff != "" {
			t.Fatalf("seed %d: (-was +is)\n%s\n%s", seed, diff, data)
		}
		if twice, _ := replaytest.Marshal(again); !bytes.Equal(data, twice) {
			t.Fatalf("seed %d: other bytes the second time:\n%s\n%s", seed, data, twice)
		}
	}
}

// TestFrozen: the form never changes. The file was written when the form was made.
func TestFrozen(t *testing.T) {
	const file = "testdata/frozen.json"
	frozen, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	h, err := replaytest.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	data, err := replaytest.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(frozen), string(data)); diff != "" {
		t.Errorf("(-frozen +now)\n%s", diff)
	}
	if h.Run.Key != "order:<A&B>" || h.Run.Labels["a"] != "1\u2028" || h.Run.Input.Encoding != "gzip" || len(h.Events) < 10 {
		t.Errorf("read %+v", h.Run)
	}
}

// maker makes histories of any shape, not only those that a machine would make.
type maker struct{ *rand.Rand }

func (m *maker) history() *replaytest.History {
	h := &replaytest.History{Run: replay.Info{
		Run: journal.NewRunID(), Workflow: m.text(), Version: m.Int32(), Queue: m.text(), Generation: 1, Input: m.payload(),
	}}
	if m.IntN(2) == 0 {
		h.Run.Key, h.Run.Labels = m.text(), map[string]string{m.text(): m.text(), m.text(): ""}
	}
	if m.IntN(2) == 0 {
		h.Run.Generation, h.Run.InboxSeen = journal.Generation(m.Int32()), journal.InboxSeq(m.Int64())
		h.Run.Parent = &journal.Parent{Run: journal.RunID{3, byte(m.IntN(256))}, Generation: 1, Cmd: journal.Cmd(m.Int32()), Policy: journal.ClosePolicy(m.IntN(3))}
	}
	if m.IntN(2) == 0 {
		h.Run.Headers, h.Run.OnFailure = map[string]string{m.text(): m.text()}, m.text()
		h.Run.StartAt, h.Run.Deadline = m.time(), m.time()
	}
	h.Run.Run = journal.RunID{1, 2, byte(m.IntN(256))}
	kinds := slices.Sorted(maps.Keys(journal.Kinds()))
	for i := range m.IntN(30) {
		ev := journal.Event{Seq: journal.Seq(i + 1), Kind: kinds[m.IntN(len(kinds))], Time: m.time(), Payload: m.payload()}
		if m.IntN(2) == 0 {
			ev.Cmd, ev.Name, ev.Attempt, ev.Inbox = journal.Cmd(m.Int32()), m.text(), m.Int32(), journal.InboxSeq(m.Int64())
		}
		for range m.IntN(4) {
			ev.Issued = append(ev.Issued, []journal.Issued{
				{Kind: journal.CommandStep, Name: m.text()}, {Kind: journal.CommandTimer, Name: m.text(), Due: m.time()},
				{Kind: journal.CommandTimer, Due: m.time()}, {Kind: journal.CommandCancel, Target: journal.Cmd(m.Int32())},
				{Kind: journal.CommandChild, Name: m.text(), Detail: m.text()}, {Kind: journal.CommandChild, Name: m.text()},
				{Kind: journal.CommandSend, Name: m.text(), Detail: journal.RunID{7}.String()}, journal.Recorded(m.text(), m.payload()),
				{Kind: journal.CommandChange, Name: m.text()}, {Kind: journal.CommandReply, Detail: "12"},
				{Kind: journal.CommandAside, Name: m.text(), Detail: "13"},
			}[m.IntN(11)])
		}
		h.Events = append(h.Events, ev)
	}
	return h
}

func (m *maker) time() time.Time {
	return time.UnixMicro(m.Int64N(4e15)).UTC()
}

func (m *maker) text() string {
	runes := []rune("ab z\"\\<&>ñ李🤖\u2028'{}[]:,/")
	var b strings.Builder
	for range 1 + m.IntN(12) {
		b.WriteRune(runes[m.IntN(len(runes))])
	}
	return b.String()
}

func (m *maker) payload() journal.Payload {
	p := journal.Payload{Encoding: []string{"", "", "failure", "gzip", m.text()}[m.IntN(5)]}
	switch m.IntN(8) {
	case 0:
		return journal.Payload{Encoding: p.Encoding}
	case 1:
		p.Data = make([]byte, 1+m.IntN(40))
		for i := range p.Data {
			p.Data[i] = byte(m.Uint32())
		}
	case 2:
		p.Data = []byte([]string{`null`, `""`, `0`, `1e999`, `-0`, `[]`, `{"a":1,"a":2}`, `"\u0000\ud800"`, `12345678901234567890.10`}[m.IntN(9)])
	case 3:
		p.Data = []byte([]string{` 1`, "1\n", `{"a": 1}`, "[\t]", `{`, "\"\xff\"", "\xef\xbb\xbf1", `1,2`}[m.IntN(8)])
	case 4:
		if m.IntN(200) > 0 { // large: comparing them takes long
			return p
		}
		p.Data = []byte(strings.Repeat("[", 9_995) + strings.Repeat("]", 9_995))
	default:
		enc, err := journal.JSON{}.Encode(map[string]any{m.text(): m.text(), "n": m.Float64(), "l": []any{nil, true, m.text()}})
		if err != nil {
			panic(err)
		}
		p.Data = enc.Data
	}
	return p
}

// TestReadable: JSON is shown as JSON, also that of failures, and one event is one line.
func TestReadable(t *testing.T) {
	h := &replaytest.History{Run: replay.Info{Workflow: "w", Version: 1, Queue: "default", Generation: 1}, Events: []journal.Event{
		{Seq: 1, Kind: journal.RunStarted, Time: epoch, Payload: journal.Payload{Data: []byte(`{"html":"<b>"}`)}},
		{Seq: 2, Kind: journal.StepFailed, Time: epoch, Cmd: 1, Name: "s", Attempt: 3,
			Payload: journal.EncodeFailure(&journal.Failure{Type: "T", Message: "no"})},
		{Seq: 3, Kind: journal.StepCompleted, Time: epoch, Payload: journal.Payload{Encoding: "zip", Data: []byte{1, 2}}},
	}}
	data, err := replaytest.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	want := `{
 "format": 1,
 "run": {"id":"00000000-0000-0000-0000-000000000000","workflow":"w","version":1,"queue":"default","generation":1},
 "events": [
  {"seq":1,"kind":"RunStarted","time":"2026-01-02T03:04:05Z","payload":{"json":{"html":"<b>"}}},
  {"seq":2,"kind":"StepFailed","time":"2026-01-02T03:04:05Z","cmd":1,"name":"s","attempt":3,"payload":{"encoding":"failure","json":{"type":"T","message":"no"}}},
  {"seq":3,"kind":"StepCompleted","time":"2026-01-02T03:04:05Z","payload":{"encoding":"zip","base64":"AQI="}}
 ]
}
`
	if diff := cmp.Diff(want, string(data)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	loose := strings.NewReplacer("\n", "\r\n\t", `{"html":"<b>"}`, `{ "html" :"<b>" }`).Replace(want)
	again, err := replaytest.Unmarshal([]byte(loose))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(h, again); diff != "" {
		t.Errorf("another layout: (-want +got)\n%s", diff)
	}
}

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// TestRefused: what is not understood is not guessed at.
func TestRefused(t *testing.T) {
	file := func(event string) string {
		return fmt.Sprintf(`{"format":1,"run":{"id":"00000000-0000-0000-0000-000000000000","workflow":"w","version":1,"queue":"q","generation":1},"events":[{"seq":1,"time":"2026-01-02T03:04:05Z",%s}]}`, event)
	}
	if _, err := replaytest.Unmarshal([]byte(file(`"kind":"RunStarted"`))); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		``:           "EOF",
		`{}`:         "format is 0",
		`{"fOrm":1}`: "unknown field",
		strings.Replace(file(`"kind":"RunStarted"`), `1`, `2`, 1):             "format is 2",
		strings.Replace(file(`"kind":"RunStarted"`), `"workflow"`, `"wf"`, 1): "unknown field",
		file(`"kind":"RunStarted"`) + "{}":                                    "more after the end",
		file(`"kind":"RunStarted","colour":1`):                                "unknown field",
		file(`"kind":"RunStarted","payload":{"json":1,"text":""}`):            "unknown field",
		file(`"kind":"RunStarted","payload":{"json":1,"base64":"AQ=="}`):      "json and base64",
		file(`"kind":"RunStarted","payload":{"base64":"?"}`):                  "base64",
		file(`"kind":"Kind(99)"`):                                             "kind is unknown",
		file(`"kind":"RunStarted","issued":["dance"]`):                        "malformed",
		file(`"kind":"RunStarted","issued":[""]`):                             "issued command",
		file(`"kind":"RunStarted","issued":["step a\nstep b"]`):               "issued command",
	} {
		if _, err := replaytest.Unmarshal([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\nerror %v, want one with %q", text, err, want)
		}
	}
	for name, break1 := range map[string]func(*replaytest.History){
		"name":     func(h *replaytest.History) { h.Events[0].Name = "\xff" },
		"encoding": func(h *replaytest.History) { h.Events[0].Payload.Encoding = "\xff" },
		"key":      func(h *replaytest.History) { h.Run.Key = "\xff" },
		"label":    func(h *replaytest.History) { h.Run.Labels = map[string]string{"a": "\xff"} },
		"kind":     func(h *replaytest.History) { h.Events[0].Kind = 99 },
		"issued":   func(h *replaytest.History) { h.Events[0].Issued = []journal.Issued{{Kind: 99}} },
		"lines":    func(h *replaytest.History) { h.Events[0].Issued = []journal.Issued{{Kind: 1, Name: "a\nstep b"}} },
		"year":     func(h *replaytest.History) { h.Events[0].Time = time.Date(12026, 1, 1, 0, 0, 0, 0, time.UTC) },
	} {
		h := &replaytest.History{Events: []journal.Event{{Seq: 1, Kind: journal.RunStarted, Time: epoch}}}
		break1(h)
		if data, err := replaytest.Marshal(h); err == nil {
			t.Errorf("%s is written as\n%s", name, data)
		}
	}
}

// FuzzUnmarshal: whatever can be read comes back.
func FuzzUnmarshal(f *testing.F) {
	for seed := range uint64(20) {
		data, err := replaytest.Marshal((&maker{rand.New(rand.NewPCG(seed, 2))}).history())
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := replaytest.Unmarshal(data)
		if err != nil {
			return
		}
		first, err := replaytest.Marshal(h)
		if err != nil {
			return // a name with a control character, or a year past 9999 in UTC
		}
		again, err := replaytest.Unmarshal(first)
		if err != nil {
			t.Fatalf("%v\n%s", err, first)
		}
		if second, err := replaytest.Marshal(again); err != nil || !bytes.Equal(first, second) {
			t.Fatalf("%v\n%s\n%s", err, first, second)
		}
	})
}
