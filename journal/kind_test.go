package journal_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// TestKindsAreFrozen holds the numbers that are in every database. A new kind adds a line; a line
// never changes.
func TestKindsAreFrozen(t *testing.T) {
	want := map[journal.Kind]string{
		1:  "RunStarted",
		2:  "StepCompleted",
		3:  "StepFailed",
		4:  "TimerFired",
		5:  "SignalReceived",
		6:  "CancelRequested",
		7:  "ChildCompleted",
		8:  "ChildFailed",
		9:  "SignalSent",
		10: "SignalRefused",
		11: "UpdateReceived",
		12: "MessageDropped",
		13: "RunContinued",
		20: "RunCompleted",
		21: "RunFailed",
		22: "RunCancelled",
		23: "RunTerminated",
	}
	if diff := cmp.Diff(want, journal.Kinds()); diff != "" {
		t.Error(diff)
	}
	for kind, name := range want {
		if !kind.Known() || kind.String() != name {
			t.Errorf("kind %d is %s, known %v", int(kind), kind, kind.Known())
		}
	}
	if k := journal.Kind(99); k.Known() || k.String() != "Kind(99)" || k.Terminal() {
		t.Errorf("an unknown kind: %s, known %v, terminal %v", k, k.Known(), k.Terminal())
	}
}

// TestStoredNumbersAreFrozen does the same for the other numbers and words in the database.
func TestStoredNumbersAreFrozen(t *testing.T) {
	for got, want := range map[int]int{
		int(journal.Open): 0, int(journal.Completed): 1, int(journal.Failed): 2, int(journal.Cancelled): 3, int(journal.Terminated): 4,
	} {
		if got != want {
			t.Errorf("a status is %d, want %d", got, want)
		}
	}
	for i, kind := range []journal.MessageKind{
		journal.MessageSignal, journal.MessageCancel, journal.MessageUpdate, journal.MessageChildCompleted, journal.MessageChildFailed,
		journal.MessageSent, journal.MessageRefused,
	} {
		if int(kind) != i+1 {
			t.Errorf("message kind %s is %d, want %d", kind, kind, i+1)
		}
	}
	if journal.Ready != 0 || journal.Blocked != 1 || journal.Quarantined != 2 || journal.Paused != 3 || journal.Pausing != 4 || journal.Interrupting != 5 {
		t.Error("the states of tasks have other numbers")
	}
	if driver.NextKeep != 0 || driver.NextPark != 1 || driver.NextRelease != 2 || driver.NextBlock != 3 || driver.NextClose != 4 {
		t.Error("the next states have other numbers; statements hold them")
	}
	for kind, word := range map[journal.CommandKind]string{
		journal.CommandStep: "step", journal.CommandTimer: "timer", journal.CommandCancel: "cancel", journal.CommandChild: "child",
		journal.CommandSend: "send", journal.CommandRecord: "record", journal.CommandChange: "change", journal.CommandReply: "reply",
		journal.CommandAside: "aside",
	} {
		if kind.String() != word {
			t.Errorf("command kind %d is %q, want %q", kind, kind, word)
		}
	}
}

func TestEveryTerminalKindHasAStatus(t *testing.T) {
	seen := map[journal.Status]bool{}
	for kind := range journal.Kinds() {
		status, ok := journal.StatusOf(kind)
		if ok != kind.Terminal() || ok != status.Closed() || ok && seen[status] {
			t.Errorf("%s: status %s, %v", kind, status, ok)
		}
		seen[status] = true
	}
}
