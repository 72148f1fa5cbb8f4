package journal_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
)

func TestIssuedIsStoredAsReadableLines(t *testing.T) {
	due := time.Date(2024, 2, 29, 23, 59, 59, 123456000, time.UTC)
	list := []journal.Issued{
		{Kind: journal.CommandStep, Name: "charge the card"},
		{Kind: journal.CommandTimer, Due: due, Name: "approval window"},
		{Kind: journal.CommandTimer, Due: due.Truncate(time.Second)},
		{Kind: journal.CommandCancel, Target: 2},
		{Kind: journal.CommandStep, Name: ""},
		{Kind: journal.CommandStep, Name: " lead, ünïcode 🙂 and trail "},
		{Kind: journal.CommandChild, Name: "pay"},
		{Kind: journal.CommandChild, Name: "pay", Detail: "pay:1"},
		{Kind: journal.CommandSend, Name: "approved", Detail: "0197a2b4-0000-7000-8000-000000000001"},
		journal.Recorded("dice", journal.Payload{Data: []byte("4\n")}),
		journal.Recorded("secret", journal.Payload{Encoding: "age v1", Data: []byte{0, 255}}),
		{Kind: journal.CommandChange, Name: "new prices"},
		{Kind: journal.CommandReply, Detail: "12"},
		{Kind: journal.CommandAside, Name: "approve", Detail: "13"},
	}
	const stored = "step charge the card\n" +
		"timer 2024-02-29T23:59:59.123456Z approval window\n" +
		"timer 2024-02-29T23:59:59Z\n" +
		"cancel 2\n" +
		"step \n" +
		"step  lead, ünïcode 🙂 and trail \n" +
		"child pay\n" +
		"child pay\tpay:1\n" +
		"send approved\t0197a2b4-0000-7000-8000-000000000001\n" +
		"record dice\tNAo=\n" +
		"record secret\tAP8= age v1\n" +
		"change new prices\n" +
		"reply \t12\n" +
		"aside approve\t13"
	if got := journal.EncodeIssued(list); got != stored { // frozen: it is in every database
		t.Errorf("stored as\n%s\nwant\n%s", got, stored)
	}
	got, err := journal.DecodeIssued(stored)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(list, got); diff != "" {
		t.Error(diff)
	}
	for i, want := range map[int]journal.Payload{9: {Data: []byte("4\n")}, 10: {Encoding: "age v1", Data: []byte{0, 255}}} {
		if p, err := got[i].Value(); err != nil || cmp.Diff(want, p) != "" {
			t.Errorf("recorded value %v, %v, want %v", p, err, want)
		}
	}
	if got, err := journal.DecodeIssued(journal.EncodeIssued(nil)); got != nil || err != nil {
		t.Errorf("an empty list came back as %v, %v", got, err)
	}
}

func TestDecodeIssuedRefusesWhatNobodyWrote(t *testing.T) {
	for _, text := range []string{
		"step", "timer", "jump x", "timer yesterday", "cancel", "cancel x", "cancel 99999999999", "\n", "step a\n\nstep b", "STEP a",
	} {
		if got, err := journal.DecodeIssued(text); err == nil {
			t.Errorf("%q was read as %v", text, got)
		}
	}
}

// FuzzDecodeIssued: what can be read is written back as something that means the same.
func FuzzDecodeIssued(f *testing.F) {
	f.Add("step a\ntimer 2024-02-29T23:59:59Z b\ncancel 1")
	f.Add("timer 2024-02-29T23:59:59+07:00  x")
	f.Add("cancel -1")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := journal.DecodeIssued(text)
		if err != nil {
			return
		}
		for _, c := range list {
			if y := c.Due.UTC().Year(); y < 0 || y > 9999 {
				return // the zone of a hand-made text moves it out of what RFC 3339 can say
			}
		}
		again, err := journal.DecodeIssued(journal.EncodeIssued(list))
		if err != nil {
			t.Fatalf("%q was read, but not what was written from it: %v", text, err)
		}
		if diff := cmp.Diff(list, again); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	})
}

// FuzzIssuedRoundTrip: every name that passes CheckName survives.
func FuzzIssuedRoundTrip(f *testing.F) {
	f.Add("step one", "a timer", int64(1709251199123456))
	f.Add("a b", "", int64(0))
	f.Fuzz(func(t *testing.T, step, timer string, micros int64) {
		due := time.UnixMicro(micros).UTC()
		if journal.CheckName("step", step) != nil || timer != "" && journal.CheckName("timer", timer) != nil ||
			due.Year() < 0 || due.Year() > 9999 {
			return
		}
		list := []journal.Issued{
			{Kind: journal.CommandStep, Name: step}, {Kind: journal.CommandTimer, Due: due, Name: timer}, {Kind: journal.CommandCancel, Target: 1},
		}
		got, err := journal.DecodeIssued(journal.EncodeIssued(list))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(list, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestRunIDsSortByTimeAndSurviveText(t *testing.T) {
	before := journal.NewRunID()
	for range 100 {
		id := journal.NewRunID()
		if strings.Compare(before.String(), id.String()) >= 0 {
			t.Fatalf("%s is not behind %s", id, before)
		}
		before = id
	}
	got, err := journal.ParseRunID(before.String())
	if err != nil || got != before || got.IsZero() {
		t.Errorf("parsed %s as %s, %v", before, got, err)
	}
	text, err := before.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	var back journal.RunID
	if err := back.UnmarshalText(text); err != nil || back != before {
		t.Errorf("unmarshalled %s as %s, %v", text, back, err)
	}
	if _, err := journal.ParseRunID("checkout:9182"); !errors.Is(err, journal.ErrInvalid) {
		t.Errorf("parsed a key: %v", err)
	}
}
