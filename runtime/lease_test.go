package runtime

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// fakeMember is a membership whose store does not answer.
type fakeMember struct {
	journal.Membership
	left chan error // the error of Leave's context
}

func (fakeMember) ID() journal.NodeID { return 7 }

func (fakeMember) Renew(context.Context) (journal.Renewal, error) {
	return journal.Renewal{}, journal.ErrUnavailable
}

func (m fakeMember) Leave(ctx context.Context) error {
	m.left <- ctx.Err()
	return nil
}

func testIncarnation() (*incarnation, fakeMember) {
	m := fakeMember{left: make(chan error, 1)}
	return newIncarnation(NewNode(journal.New(&faultyStore{}, nil), nil), m), m
}

// J9: a node that cannot renew gives up no later than the others may declare it dead, whenever its last try was.
func TestLeaseEndsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inc, _ := testIncarnation()
		lease := leaseDefault + leaseDefault/renewalsPerLease/2 // between two tries
		began := time.Now()
		go inc.renewLoop(began.Add(lease))
		<-inc.lost
		if took := time.Since(began); took > lease {
			t.Errorf("gave up after %s, the lease was %s", took, lease)
		}
		if !errors.Is(inc.reason, journal.ErrNodeLost) {
			t.Errorf("the reason is %v", inc.reason)
		}
		_ = inc.die()
		time.Sleep(time.Minute) // the last timers end
	})
}

// A node that was lost or whose drain took too long still gives its lease back: nothing of it is written any more.
func TestEveryEndLeaves(t *testing.T) {
	for name, end := range map[string]func(inc *incarnation){
		"lost":  func(inc *incarnation) { inc.lose(journal.ErrNodeLost); _ = inc.die() },
		"drain": func(inc *incarnation) { inc.cancel(); _ = inc.drain() },
	} {
		t.Run(name, func(t *testing.T) {
			inc, m := testIncarnation()
			end(inc)
			if err := <-m.left; err != nil {
				t.Errorf("leaves with a context that ended: %v", err)
			}
		})
	}
}
