package replay_test

import (
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
)

// offered starts the workflow "sums", which answers the update "more" for positive numbers.
func offered(t *testing.T) *rig {
	t.Helper()
	r := newRig(workflows["sums"])
	t.Cleanup(r.m.Close)
	if _, err := r.step(r.m.First(&journal.Run{StartAt: epoch}, epoch)); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestFirstEvent: the row decides when the first generation begins, and now when a later one does.
func TestFirstEvent(t *testing.T) {
	r := newRig(workflows["sums"])
	defer r.m.Close()
	now := epoch.Add(time.Hour)
	run := journal.Run{StartAt: epoch}
	if ev := r.m.First(&run, now); ev.Kind != journal.RunStarted || ev.Seq != 1 || !ev.Time.Equal(epoch) {
		t.Errorf("the first generation begins with %v", ev)
	}
	run.Continued = &journal.Continue{}
	if ev := r.m.First(&run, now); !ev.Time.Equal(now) {
		t.Errorf("a later generation begins at %v, now is %v", ev.Time, now)
	}
}

func TestOfferRefuses(t *testing.T) {
	r := offered(t)
	for _, msg := range []journal.Message{
		{Kind: journal.MessageUpdate, Number: 4, Name: "more", Payload: journal.Payload{Data: []byte("-1")}},
		{Kind: journal.MessageUpdate, Number: 5, Name: "unknown"},
	} {
		_, refusal := r.m.Offer(&msg, epoch)
		if refusal == nil || !refusal.Rejected || refusal.Number != msg.Number {
			t.Fatalf("update %s: refusal %+v", msg.Name, refusal)
		}
		f, err := journal.DecodeFailure(refusal.Payload)
		if err != nil || f.Type != journal.FailureRejected || !f.Permanent || f.Cause == nil {
			t.Errorf("update %s: failure %+v, %v", msg.Name, f, err)
		}
	}
	msg := journal.Message{Kind: journal.MessageUpdate, Number: 6, Name: "more", Payload: journal.Payload{Data: []byte("2")}}
	ev, refusal := r.m.Offer(&msg, epoch)
	if refusal != nil || ev.Kind != journal.UpdateReceived || ev.Inbox != 6 || ev.Seq != 2 {
		t.Errorf("an update that fits becomes %v, refusal %+v", ev, refusal)
	}
	if r.m.LastSeq() != 1 || r.m.InboxSeen() != 0 {
		t.Errorf("offering moved the machine to event %d, message %d", r.m.LastSeq(), r.m.InboxSeen())
	}
}

// broken is an error whose code panics.
type broken struct{ text string }

func (b *broken) Error() string {
	if b.text == "" {
		panic("no text")
	}
	return b.text
}

func (b *broken) MarshalJSON() ([]byte, error) { panic("no form") }

// TestOfferBrokenError: a validator's error whose own code panics refuses its update like any other,
// with what has panicked, and the machine goes on.
func TestOfferBrokenError(t *testing.T) {
	workflow.RegisterErrorType[*broken]("test.broken")
	for text, want := range map[string]string{"": "panicked: no text", "x": "panicked: no form"} {
		r := newRig(define(func(c ctx) (string, error) {
			more.Handle(c, func(_ ctx, n int) (int, error) { return n, nil }, &workflow.UpdateOptions[int]{Validate: func(int) error { return &broken{text} }})
			return approved.Receive(c)
		}))
		defer r.m.Close()
		mustStep(t, r, started())
		_, refusal := r.m.Offer(&journal.Message{Kind: journal.MessageUpdate, Number: 1, Name: "more", Payload: journal.Payload{Data: []byte("1")}}, epoch)
		if refusal == nil {
			t.Fatal("it is accepted")
		}
		f, err := journal.DecodeFailure(refusal.Payload)
		if err != nil || !strings.Contains(f.Message, `the error of the validator of update "more" `+want) || !strings.Contains(f.Message, "offer_test.go") {
			t.Errorf("failure %+v, %v", f, err)
		}
		mustStep(t, r, signalOf(1, "approved", `"x"`))
	}
}

// TestOfferStale: an answer to a command of another generation answers nothing in this one.
func TestOfferStale(t *testing.T) {
	r := offered(t)
	msg := journal.Message{Kind: journal.MessageChildCompleted, Number: 1, Cmd: 1, Name: "child", Generation: 7}
	ev, _ := r.m.Offer(&msg, epoch)
	if ev.Cmd != 0 || msg.Cmd != 1 {
		t.Errorf("the event answers command %d, the message %d", ev.Cmd, msg.Cmd)
	}
	if _, err := r.step(ev); err != nil || r.history[1].Kind != journal.MessageDropped {
		t.Errorf("it became %v, %v", r.history[1].Kind, err)
	}
	msg.Generation = 1
	if ev, _ := r.m.Offer(&msg, epoch); ev.Cmd != 1 {
		t.Errorf("an answer to this generation lost its command")
	}
}

// TestOfferTime: an event has the latest of its message's time, the caller's clock and workflow
// time.
func TestOfferTime(t *testing.T) {
	early, late := epoch.Add(-time.Hour), epoch.Add(time.Hour)
	for _, test := range []struct{ sent, now, want time.Time }{
		{early, early, epoch}, // the first event is of epoch
		{early, late, late},
		{late, early, late},
	} {
		r := offered(t)
		ev, _ := r.m.Offer(&journal.Message{Kind: journal.MessageSignal, Number: 1, Name: "stop", Time: test.sent}, test.now)
		if !ev.Time.Equal(test.want) || ev.Seq != 2 {
			t.Errorf("sent %v, now %v: event %d at %v, want %v", test.sent, test.now, ev.Seq, ev.Time, test.want)
		}
	}
}
