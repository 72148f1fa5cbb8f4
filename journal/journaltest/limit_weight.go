package journaltest

import (
	"fmt"
	"slices"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// More keys than a round looks at wait for a Total, and a weight changes: that of a key, or that of
// all keys that have none of their own. What becomes free goes to the key that holds the least for
// the weights as they are now, wherever it stood before.
func weightsChange(k *kit) {
	const keys = 80
	row := func(key string, weight int) journal.Limit {
		l := journal.Limit{Name: "shared", Key: key, Weight: weight}
		if key == "" {
			l.Total = keys + 3
		}
		return l
	}
	for what, c := range map[string]struct{ before, after []journal.Limit }{
		"of a key":          {before: []journal.Limit{row("", 1)}, after: []journal.Limit{row("z", 10)}},
		"of all other keys": {before: []journal.Limit{row("", 9), row("z", 9)}, after: []journal.Limit{row("", 1)}},
	} {
		for _, l := range c.before {
			setLimit(k, l)
		}
		n := newLimiter(k)
		last := n.want(hourAgo(0), need("shared", "r"))
		held := []driver.Want{last, n.want(hourAgo(1), need("shared", "z")), n.want(hourAgo(2), need("shared", "z"))}
		var waits []driver.Want
		for i := range keys {
			held = append(held, n.want(hourAgo(3), need("shared", fmt.Sprint(i))))
			waits = append(waits, n.want(hourAgo(4), need("shared", fmt.Sprint(i))))
		}
		z := n.want(hourAgo(5), need("shared", "z"))
		k.same("granted at first, "+what, len(n.settled(driver.LimitRound{Wants: held})), keys+3)
		k.same("granted while all is held, "+what, n.settled(driver.LimitRound{Wants: append(waits, z)}), nil)
		for _, l := range c.after {
			setLimit(k, l)
		}
		k.same("granted by the new weight "+what, n.settled(driver.LimitRound{Releases: []driver.LimitRelease{{ID: last.ID, Needs: last.Needs}}}), []int64{z.ID})
		var rest []driver.LimitRelease
		for _, w := range slices.Concat(held[1:], waits, []driver.Want{z}) {
			rest = append(rest, driver.LimitRelease{ID: w.ID, Needs: w.Needs})
		}
		n.round(driver.LimitRound{Releases: rest})
		for _, key := range []string{"z", ""} {
			_, err := k.j.Admin(k.ctx, driver.AdminAction{Kind: driver.AdminRemoveLimit, Limit: &journal.Limit{Name: "shared", Key: key}})
			k.ok(err)
		}
	}
}
