package journaltest

import (
	"slices"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// position is where a check's own member stands in each batch, and who the others are.
type position struct {
	name           string
	before, behind int
	effects        bool // whether the others send messages, start children and go on as new generations
	limits         bool // whether the checks of limits are made here
}

// positions are where the checks of the guarantees are made once more; those of limits (J14) amid
// twenty alone, since a round of limits is no batch of commits. A store may have a statement for
// a single member and another one for many, and what carries production is that for many: it must
// compare owner, fence and turn (J3) of each member, and each member's inbox (J6), as the single
// one does. A fault may look at the first member only, or at the last.
//
// The other members close if the check's own does, where there is one of them: closes alone may be
// a statement too.
var positions = []position{
	{"First", 0, 1, false, false},
	{"Last", 1, 0, false, false},
	{"AmidTwenty", 10, 10, true, true},
}

// fillsItsBatches are checks that hand over thousands of members at once, which is all that they
// are about.
var fillsItsBatches = []string{"J2_LargeBatchAndLargeCommit", "J8_LargeBatch"}

// amid makes the checks of the guarantees once more, with every commit, start and message in a
// batch of others that are none of the check's business. The others must not hinder it and must
// all be accepted.
func amid(t *testing.T, open func(t *testing.T) driver.Store) {
	for _, p := range positions {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			for _, c := range suite() {
				ofLimits := strings.HasPrefix(c.name, "J14_")
				if !strings.HasPrefix(c.name, "J") || ofLimits && !p.limits || slices.Contains(fillsItsBatches, c.name) {
					continue
				}
				t.Run(c.name, func(t *testing.T) {
					t.Parallel()
					k := newKit(t, open(t))
					k.crowd(p)
					c.run(k)
				})
			}
		})
	}
}

// crowd surrounds each single member that the check hands over with others, from now on.
func (k *kit) crowd(p position) {
	node := k.join(leaseLong, journal.Route{Queue: journal.DefaultQueue, Workflow: crowdFlow, Version: 1})
	k.view = &crowded{Store: k.store, position: p, kit: &kit{t: k.t, ctx: k.ctx, j: k.j}, node: node.ID()}
	k.j = driver.New(k.view, nil)
}
