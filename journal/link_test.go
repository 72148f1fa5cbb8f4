package journal

import (
	"testing"
	"time"
)

func linkedEvent() Event {
	return Event{
		Seq: 3, Kind: StepCompleted, Cmd: 2, Inbox: 4, Time: time.UnixMicro(5).UTC(), Name: "step", Attempt: 6,
		Payload: Payload{Encoding: "e", Data: []byte("data")},
		Issued: []Issued{{Kind: CommandStep, Name: "next"}, {Kind: CommandTimer, Name: "t", Due: time.Unix(7, 0).UTC()},
			{Kind: CommandCancel, Target: 1}, {Kind: CommandChild, Name: "c", Detail: "key"}},
	}
}

// Links are stored, so they never change. What a link does not depend on could be edited unseen.
func TestLinkDependsOnEverything(t *testing.T) {
	const prev, want = 99, Link(-2875626442205900738)
	ev := linkedEvent()
	if got := ev.LinkAfter(prev); got != want {
		t.Errorf("the link is %d, stored ones were %d", got, want)
	}
	seen := map[Link]string{want: "the event as it is"}
	for name, change := range map[string]func(e *Event){
		"seq":             func(e *Event) { e.Seq++ },
		"kind":            func(e *Event) { e.Kind = StepFailed },
		"cmd":             func(e *Event) { e.Cmd++ },
		"inbox":           func(e *Event) { e.Inbox++ },
		"time":            func(e *Event) { e.Time = e.Time.Add(time.Microsecond) },
		"name":            func(e *Event) { e.Name = "step2" },
		"attempt":         func(e *Event) { e.Attempt++ },
		"encoding":        func(e *Event) { e.Payload.Encoding = "f" },
		"data":            func(e *Event) { e.Payload.Data = []byte("date") },
		"name to payload": func(e *Event) { e.Name, e.Payload.Encoding = "ste", "pe" },
		"no command":      func(e *Event) { e.Issued = e.Issued[:3] },
		"order":           func(e *Event) { e.Issued[0], e.Issued[3] = e.Issued[3], e.Issued[0] },
		"command's name":  func(e *Event) { e.Issued[0].Name = "other" },
		"timer's name":    func(e *Event) { e.Issued[1].Name = "" },
		"due":             func(e *Event) { e.Issued[1].Due = e.Issued[1].Due.Add(1) },
		"target":          func(e *Event) { e.Issued[2].Target++ },
		"detail":          func(e *Event) { e.Issued[3].Detail = "" },
	} {
		ev := linkedEvent()
		change(&ev)
		got := ev.LinkAfter(prev)
		if other, known := seen[got]; known {
			t.Errorf("%s has the link of %s", name, other)
		}
		seen[got] = name
	}
	if other, known := seen[ev.LinkAfter(prev+1)]; known {
		t.Errorf("after another event it has the link of %s", other)
	}
}

// A link is the same after a round through the stored form, which knows no time zones and no
// difference between no bytes and none.
func TestLinkOfTheStoredForm(t *testing.T) {
	ev := linkedEvent()
	want := ev.LinkAfter(1)
	issued, err := DecodeIssued(EncodeIssued(ev.Issued))
	if err != nil {
		t.Fatal(err)
	}
	ev.Issued, ev.Time = issued, ev.Time.In(time.FixedZone("there", 3600))
	if got := ev.LinkAfter(1); got != want {
		t.Errorf("link %d, want %d", got, want)
	}
	none, empty := Event{Kind: RunStarted, Seq: 1}, Event{Kind: RunStarted, Seq: 1, Payload: Payload{Data: []byte{}}, Issued: []Issued{}}
	if none.LinkAfter(1) != empty.LinkAfter(1) {
		t.Error("no bytes and none differ")
	}
	dropped := Event{Kind: MessageDropped, Seq: 2, Inbox: 1}
	want = dropped.LinkAfter(1)
	if dropped.Payload.Data = []byte("joined by the load"); dropped.LinkAfter(1) != want {
		t.Error("the payload of a dropped message counts")
	}
}

func TestOriginDependsOnEverything(t *testing.T) {
	run, input := RunID{1}, Payload{Data: []byte("in")}
	list := []Link{
		OriginOf(run, 1, 0, input), OriginOf(RunID{2}, 1, 0, input), OriginOf(run, 2, 0, input), OriginOf(run, 1, 1, input),
		OriginOf(run, 1, 0, Payload{Data: []byte("IN")}), OriginOf(run, 1, 0, Payload{Encoding: "in"}),
	}
	seen := map[Link]int{}
	for i, l := range list {
		if other, known := seen[l]; known || l == 0 {
			t.Errorf("origin %d is that of %d", i, other)
		}
		seen[l] = i
	}
}

func TestDigestDependsOnEverything(t *testing.T) {
	message := func() Message {
		return Message{Kind: MessageSignal, Name: "n", Key: "k", Payload: Payload{Encoding: "e", Data: []byte("d")}, Cmd: 1, Generation: 2}
	}
	m := message()
	seen := map[Link]string{m.Digest(): "the message as it is"}
	for name, change := range map[string]func(m *Message){
		"kind": func(m *Message) { m.Kind = MessageUpdate }, "name": func(m *Message) { m.Name = "m" }, "key": func(m *Message) { m.Key = "l" },
		"encoding": func(m *Message) { m.Payload.Encoding = "" }, "data": func(m *Message) { m.Payload.Data = nil },
		"an answer":      func(m *Message) { m.Kind = MessageSent },
		"answer's cmd":   func(m *Message) { m.Kind, m.Cmd = MessageSent, 2 },
		"its generation": func(m *Message) { m.Kind, m.Generation = MessageSent, 3 },
	} {
		m := message()
		change(&m)
		if other, known := seen[m.Digest()]; known {
			t.Errorf("%s has the digest of %s", name, other)
		}
		seen[m.Digest()] = name
	}
	m.Number, m.Time, m.Cmd, m.Generation = 7, time.Now(), 0, 0
	if _, known := seen[m.Digest()]; !known {
		t.Error("the number, the time or the sender's command counts")
	}
}

func TestFenceGrowsWhateverTheChance(t *testing.T) {
	f := Fence(0)
	for i, chance := range []uint32{1<<32 - 1, 0, 7, 1 << 20} {
		next := f.Next(chance)
		if next <= f || next.Count() != int64(i+1) || next == f.Next(chance+1) {
			t.Errorf("%d follows %d", next, f)
		}
		f = next
	}
	if FenceAtBirth.Count() != 1 || FenceAtBirth.Next(0) <= FenceAtBirth {
		t.Errorf("the first fence is %d", FenceAtBirth)
	}
}
