package temporal

import (
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

func TestFamilyEnds(t *testing.T) {
	end := map[string]func(*runtimetest.Env, journal.RunID){
		"completed": func(e *runtimetest.Env, run journal.RunID) { runtimetest.Signal(e, run, FamilyEnd, "enough", nil) },
		"cancelled": func(e *runtimetest.Env, run journal.RunID) { e.Cancel(run, "enough") },
		"terminated": func(e *runtimetest.Env, run journal.RunID) {
			if err := e.Client().Terminate(e.Context(), run, "enough"); err != nil {
				e.Error(err)
			}
		},
	}
	for how, end := range end {
		t.Run(how, func(t *testing.T) {
			runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
				runtimetest.Handle(e, Family, family, nil)
				runtimetest.Handle(e, Member, member, nil)
				run := runtimetest.Start(e, Family, "us", &runtime.StartOptions{Key: "us"})
				e.Sleep(day)
				end(e, run.ID())
				e.Sleep(day)
				want := map[string]journal.Status{"": journal.Completed, "/asked": journal.Cancelled, "/closed": journal.Terminated, "/alone": journal.Open}
				switch how {
				case "cancelled":
					want[""] = journal.Cancelled
				case "terminated":
					want[""] = journal.Terminated
				}
				for who, want := range want {
					if got := status(e, "us"+who); got != want {
						e.Errorf("us%s is %s, want %s", who, got, want)
					}
				}
				if n := e.Effects("tidy up"); n < 1 {
					e.Error("the one that was asked did not tidy up")
				}
			})
		})
	}
}

func status(e *runtimetest.Env, key string) journal.Status {
	e.Helper()
	run, err := e.Client().FindKey(e.Context(), key)
	if err != nil {
		e.Fatal(err)
	}
	d, err := e.Client().Describe(e.Context(), run)
	if err != nil {
		e.Fatal(err)
	}
	return d.Run.Status
}
