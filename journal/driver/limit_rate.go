package driver

import (
	"math/big"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// LimitRatesMax is how many lines a store reads at once whose rate has changed.
const LimitRatesMax = 10_000

// LimitReady is the [LimitLine.Ready] of a line whose rate changes now. What was spent is an amount
// and stays one: what takes an hour of the old rate takes as long of the new one as that much cost
// does. So a rate that is raised lets begin at once what it allows beyond what was spent, and one
// that is lowered allows no more than it would if it had held all along.
//
// A lower rate would make of a full burst of the old one a time for which nothing begins at all.
// The bound needs no more than that nothing is left to begin at once, and that nothing begins
// earlier than it would have. So a change that lowers stops there.
//
// A line that gets its first rate has spent nothing, and one that has none any more forgets it.
func LimitReady(ready int64, now time.Time, was, is journal.Rate) int64 {
	at := now.UnixMicro()
	left := ready - at
	if was.IsZero() || is.IsZero() || left <= 0 {
		return 0
	}
	whole := func(n int64, per time.Duration) *big.Int {
		return new(big.Int).Mul(big.NewInt(n), big.NewInt(per.Microseconds()))
	}
	carried := new(big.Int).Mul(big.NewInt(left), whole(was.N, is.Per))
	unit := whole(is.N, was.Per)
	carried.Add(carried, unit).Sub(carried, big.NewInt(1)).Quo(carried, unit) // rounded up
	if most := max(left, span(is, is.Burst)); carried.Cmp(big.NewInt(most)) > 0 {
		return at + most
	}
	return at + carried.Int64()
}
