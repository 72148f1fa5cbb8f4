package worker

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// refusing is a membership of a store that refuses each question at once.
type refusing struct {
	driver.Membership
	last  time.Time
	asked int
}

func (m *refusing) Contact() (time.Time, bool) { return m.last, true }

func (m *refusing) Judged() <-chan struct{} { return nil }

func (m *refusing) Ask(ctx context.Context, need bool) (bool, error) {
	if m.asked++; m.asked > 1000 {
		<-ctx.Done() // or a loop without a pause would never let the time go on
	}
	return false, journal.ErrUnavailable
}

// A store that refuses at once is asked at the same pace as one that does not answer: a server that
// is down gets no flood of questions from each node, and the node keeps its processor.
func TestARefusedQuestionIsNotRepeatedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, graces := &refusing{last: time.Now()}, 10
		var loops sync.WaitGroup
		c := contact{member: m, grace: graceOfTests, owns: func() bool { return true }, interrupt: func(error) {}, resume: func() {}, look: func() {},
			lost: func(error) {}, log: slog.New(slog.DiscardHandler), wake: make(chan struct{}, 1), loops: &loops}
		ctx, cancel := context.WithCancel(t.Context())
		loops.Go(func() { c.loop(ctx) })
		time.Sleep(time.Duration(graces) * graceOfTests)
		cancel()
		loops.Wait()
		if most := 2 * graces * askPerGrace; m.asked < graces || m.asked > most {
			t.Errorf("%d questions in %d graces, want at most %d, and one in each at least", m.asked, graces, most)
		}
	})
}
