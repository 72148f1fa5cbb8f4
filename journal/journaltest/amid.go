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
}

// amidTwenty is where all checks of the guarantees are made once more. A store may have a statement
// for a single member and another one for many, and what carries production is that for many: it
// must compare owner, fence and turn (J3) of each member, and each member's inbox (J6), as the
// single one does. A fault may look at the first member only, or at the last.
var amidTwenty = position{"AmidTwenty", 10, 10, true}

// ends are where the checks are made in turns, those of limits (J14) apart, since a round of limits
// is no batch of commits: a fault that leaves the first or the last member out concerns half of
// them. The other members close if the check's own does: closes alone may be a statement too.
var ends = []position{
	{"First", 0, 1, false},
	{"Last", 1, 0, false},
}

// at tells where the check of an index is made.
func (p position) at(index int, name string) bool {
	i := slices.IndexFunc(ends, func(e position) bool { return e.name == p.name })
	return i < 0 || !strings.HasPrefix(name, "J14_") && index%len(ends) == i
}

// fillsItsBatches are checks that hand over thousands of members at once, which is all that they
// are about.
var fillsItsBatches = []string{"J2_LargeBatchAndLargeCommit", "J8_LargeBatch"}

// amid makes the checks of the guarantees once more, with every commit, start and message in a
// batch of others that are none of the check's business. The others must not hinder it and must
// all be accepted.
func amid(t *testing.T, open func(t *testing.T) driver.Store) {
	for _, p := range slices.Concat(ends, []position{amidTwenty}) {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			for i, c := range suite() {
				if !strings.HasPrefix(c.name, "J") || !p.at(i, c.name) || slices.Contains(fillsItsBatches, c.name) {
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
