package driver

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// As many lines wait for a Total as a round looks at, so there may be more. The round asks to look
// at the Total again if it has granted something and there is room, and else not: it would be asked
// for round after round that finds the same. Here another round has the limit that all of them need
// beside it.
func TestATotalIsLookedAtAgainIfARoundGetsOn(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	for _, getsOn := range []bool{false, true} {
		for _, full := range []bool{false, true} {
			table, rooms := NewLimitTable(1, now), 10
			if full && getsOn { // one place is all
				rooms = 1
			}
			total := LimitKey{"t", ""}.Total()
			table.AddLimit(journal.Limit{Name: "t", Total: rooms, Ageing: time.Minute})
			table.SetBusy("other")
			for i := range LimitHeadsMax {
				needs := []journal.LimitNeed{{Name: "t", Key: fmt.Sprint(i), Cost: 1}, {Name: "other", Cost: 1}}
				h := LimitHead{Node: 1, ID: int64(i), Rank: int64(i), Since: now, Needs: needs, Set: LimitSetOf(needs, journal.Route{}), Ranks: []int64{int64(i), int64(i)}}
				if getsOn && i == 0 {
					h.Needs, h.Set, h.Ranks = needs[:1], 0, nil
				}
				heads := LimitHeads{Claims: []LimitHead{h}}
				if h.Set != 0 {
					heads.Sets = []LimitSet{{Set: h.Set, First: h.Rank}}
				}
				table.AddLine(LimitKey{"t", fmt.Sprint(i)}, LimitLine{Waiting: 1, Open: true}, heads, true)
			}
			table.AddLine(total, LimitLine{}, LimitHeads{}, false)
			table.SetOpened("t", LimitHeadsMax)
			table.Grant(nil)
			a := table.Answer()
			if again := slices.Contains(a.Again, total); again != (getsOn && !full) || len(a.Granted) > 0 != getsOn {
				t.Errorf("gets on: %t, room is left: %t: the Total is looked at again: %t, with %d granted", getsOn, !full, again, len(a.Granted))
			}
		}
	}
}
