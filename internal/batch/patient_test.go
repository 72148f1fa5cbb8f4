package batch

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// gated is a Batcher whose writes wait to be let through, and the batches that it has begun to
// write. Odd calls can wait.
type gated struct {
	*Batcher[int, int]
	t       *testing.T
	gate    chan struct{}
	mu      sync.Mutex
	batches [][]int
	done    []int
}

func newGated(t *testing.T, most int) *gated {
	g := &gated{t: t, gate: make(chan struct{})}
	g.Batcher = New(most, func(batch []int) []int {
		g.mu.Lock()
		g.batches = append(g.batches, append([]int(nil), batch...))
		g.mu.Unlock()
		<-g.gate
		return append([]int(nil), batch...)
	})
	g.SetPatient(func(i int) bool { return i%2 == 1 })
	return g
}

func (g *gated) submit(calls ...int) {
	for _, i := range calls {
		g.Submit(i, func(i int) {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.done = append(g.done, i)
		})
	}
	synctest.Wait()
}

// begun is how many batches are being written, or have been.
func (g *gated) begun() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.batches)
}

// next lets a write through, and returns how many calls of the next batch can wait and how many
// cannot.
func (g *gated) next() (patient, others int) {
	g.gate <- struct{}{}
	synctest.Wait()
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, i := range g.batches[len(g.batches)-1] {
		if i%2 == 1 {
			patient++
		} else {
			others++
		}
	}
	return patient, others
}

// many are n calls, all of which can wait or none.
func many(n int, patient bool) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = 2 * i
		if patient {
			list[i]++
		}
	}
	return list
}

// A call that comes beside a flood of calls that can wait is in the next batch, and that is small.
func TestFloodsOfPatientCallsDelayNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGated(t, SizeMax)
		g.submit(0) // is being written
		g.submit(many(5*laterMax/2, true)...)
		g.submit(2, 4)
		if p, o := g.next(); p != laterMax || o != 2 {
			t.Errorf("the next batch has %d and %d", p, o)
		}
		if p, o := g.next(); p != laterMax || o != 0 {
			t.Errorf("then %d and %d", p, o)
		}
		if p, o := g.next(); p != laterMax/2 || o != 0 {
			t.Errorf("the last one has %d and %d", p, o)
		}
		g.gate <- struct{}{}
		g.Wait()
		synctest.Wait()
		g.mu.Lock()
		defer g.mu.Unlock()
		if n := len(g.done); n != 1+5*laterMax/2+2 || g.busy {
			t.Errorf("%d answers, busy %t", n, g.busy)
		}
	})
}

// Calls that can wait are written too while there are others without end, and in their order.
func TestPatientCallsAreNotKeptOut(t *testing.T) {
	for _, most := range []int{2, SizeMax} {
		synctest.Test(t, func(t *testing.T) {
			g := newGated(t, most)
			g.submit(0)
			g.submit(many(3*most, false)...)
			g.submit(many(3, true)...)
			want := min(3, max(most/laterShare, 1))
			if p, o := g.next(); p != want || o != most-want {
				t.Errorf("the next batch of %d has %d and %d", most, p, o)
			}
			for busy := true; busy; {
				g.gate <- struct{}{}
				synctest.Wait()
				g.mu.Lock()
				busy = len(g.done) < 1+3*most+3
				g.mu.Unlock()
			}
			g.Wait()
			synctest.Wait()
			g.mu.Lock()
			defer g.mu.Unlock()
			last := map[bool]int{false: -1, true: -1}
			for _, i := range g.done[1:] {
				if i <= last[i%2 == 1] {
					t.Fatalf("%d after %d", i, last[i%2 == 1])
				}
				last[i%2 == 1] = i
			}
		})
	}
}

// A call that can wait is written at once if nothing is, by whoever submits it, and a write that
// hangs keeps it no longer than others.
func TestPatientCallsOnAQuietBatcher(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGated(t, SizeMax)
		go g.SubmitInline(1, func(int) {})
		synctest.Wait()
		if g.begun() != 1 {
			t.Fatal("it is not being written")
		}
		g.submit(3)
		g.gate <- struct{}{}
		synctest.Wait()
		if g.begun() != 2 {
			t.Error("what came meanwhile is not being written")
		}
		g.submit(5) // behind a write that hangs
		time.Sleep(3 * patience)
		synctest.Wait()
		if g.begun() != 3 {
			t.Error("the writer was not relieved")
		}
		g.gate <- struct{}{}
		g.gate <- struct{}{}
		g.Wait()
	})
}

// The bytes of a batch are bounded for both kinds together.
func TestPatientCallsCountTheirBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGated(t, SizeMax)
		g.SetSize(func(int) int { return largeBytes / 2 })
		g.submit(0)
		g.submit(many(4, false)...)
		g.submit(many(20, true)...)
		const fit = 2 * bytesMax / largeBytes
		if p, o := g.next(); o != 4 || p != fit-4 {
			t.Errorf("the next batch has %d and %d, of which %d fit", p, o, fit)
		}
		if p, _ := g.next(); p != fit {
			t.Errorf("then %d, of which %d fit", p, fit)
		}
		g.gate <- struct{}{}
		for p := 20 - (fit - 4) - fit; p > 0; p -= fit {
			g.gate <- struct{}{}
		}
		g.Wait()
	})
}
