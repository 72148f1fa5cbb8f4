package worker

import (
	"testing"
	"testing/synctest"
	"time"
)

// Nothing that may make the node the owner of runs is in flight when it stops acquiring: the claim
// loop and the batches of starts are waited for, for at most drainGrace each.
func TestStopAcquiringWaits(t *testing.T) {
	for name, c := range map[string]struct {
		begin func(w *Worker) (end func())
		lasts time.Duration
		want  time.Duration
	}{
		"a claim":             {func(w *Worker) func() { w.claiming.Add(1); return w.claiming.Done }, time.Second, time.Second},
		"a batch of starts":   {func(w *Worker) func() { w.starts.gate.enter(); return w.starts.gate.leave }, time.Second, time.Second},
		"one that takes long": {func(w *Worker) func() { w.starts.gate.enter(); return w.starts.gate.leave }, time.Minute, drainGrace},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, _ := testWorker()
				end := c.begin(w)
				time.AfterFunc(c.lasts, end)
				began := time.Now()
				w.stopAcquiring()
				if took := time.Since(began); took != c.want {
					t.Errorf("took %s, want %s", took, c.want)
				}
				if w.starts.gate.enter() {
					t.Error("a start may make the node an owner afterwards")
				}
				time.Sleep(2 * time.Minute)
				w.kill()
				w.sys.Kill(nil)
			})
		})
	}
}
