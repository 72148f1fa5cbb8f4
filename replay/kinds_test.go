package replay

import (
	"testing"

	"github.com/reprise-run/reprise/journal"
)

// TestMachineKnowsEveryKind: a kind that the machine does not know would be taken for the answer to
// a command that is not open, and block its run as if code and history differed.
func TestMachineKnowsEveryKind(t *testing.T) {
	applied := map[journal.Kind]bool{
		journal.RunStarted: true, journal.SignalReceived: true, journal.CancelRequested: true, journal.UpdateReceived: true,
		journal.MessageDropped: true, journal.RunContinued: true,
	}
	for kind, name := range journal.Kinds() {
		command, _ := answers(kind)
		known := 0
		for _, is := range []bool{applied[kind], kind.Terminal(), command != 0} {
			if is {
				known++
			}
		}
		if known != 1 {
			t.Errorf("%s has %d meanings, want 1: give it a case in Machine.apply and a line here, or a line in answers", name, known)
		}
	}
}
