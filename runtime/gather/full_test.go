package gather_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/gather"
)

// TestFullLimit: whatever a full limit does to runs that come, it loses no input that was taken:
// neither where the workflow of the batch needs it nor where the rules name it.
func TestFullLimit(t *testing.T) {
	for f := journal.OnFullReject; f <= journal.OnFullCancelNewest; f++ {
		t.Run(f.String(), func(t *testing.T) {
			bubble(t, func(r *rig) {
				if err := runtime.SetLimit(r.ctx, r.client, journal.Limit{Name: "full", Concurrency: 1, MaxBacklog: 1, OnFull: f}); err != nil {
					t.Fatal(err)
				}
				needs := []workflow.StepLimit{{Name: "full"}}
				mails := gather.Batch("mails", held, gather.Rules{Size: 2, Wait: time.Second})
				index := gather.Debounce("index", slow, gather.Rules{Size: 1, Quiet: time.Second, Limits: needs})
				shops := gather.Latest("shops", slow, gather.Rules{Limits: needs})
				put(r, mails, "", from(1, 10)...)
				put(r, index, "", from(1, 3)...)
				put(r, shops, "", from(1, 3)...)
				r.Sleep(time.Second)
				for range 3 { // others come, and find the limit full
					if _, err := runtime.Start(r.ctx, r.client, slow, 0, &runtime.StartOptions{Limits: needs}); err != nil && f != journal.OnFullReject {
						t.Error(err)
					}
				}
				r.Sleep(5 * time.Minute)
				for _, run := range batches(r, r.client, "index", "") {
					if len(run.Limits) != 1 || run.Limits[0].Name != "full" {
						t.Errorf("a run of the index holds %+v", run.Limits)
					}
				}
				for name, want := range map[string][]string{"mails": {"1 2", "3 4", "5 6", "7 8", "9 10"}, "index": {"1", "2", "3"}, "shops": {"1", "3"}} {
					if d := cmp.Diff(want, results(r, r.client, name, "")); d != "" {
						t.Errorf("the runs of %s (-want +got):\n%s", name, d)
					}
				}
			})
		})
	}
}
