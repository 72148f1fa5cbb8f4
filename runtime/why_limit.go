package runtime

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// limitWaits are the waits of one run for limits, and the reasons that they are.
type limitWaits struct {
	cmds    map[journal.Cmd]bool // steps that wait; 0 for the run
	held    *journal.LimitClaim  // that the run holds, one of them; nil for none
	reasons []Reason
}

// waits tells whether a step waits for a limit. nil has none.
func (l *limitWaits) waits(cmd journal.Cmd) bool { return l != nil && l.cmds[cmd] }

// readLimitWaits finds what a run waits for: with one question if it is nothing, and with two more
// for each of the first keys that it waits for.
func readLimitWaits(ctx context.Context, j *driver.Journal, run *journal.Run) (*limitWaits, error) {
	l := &limitWaits{cmds: map[journal.Cmd]bool{}}
	page, err := j.Limits(ctx, journal.LimitFilter{Run: run.ID, Claims: journal.ListMax})
	if err != nil {
		return nil, err
	}
	var family ancestors
	if slices.ContainsFunc(page.Claims, func(c journal.LimitClaim) bool { return c.Granted.IsZero() }) {
		if family, err = readAncestors(ctx, j, run); err != nil {
			return nil, err
		}
	}
	lines := map[driver.LimitKey]*limitLine{}
	for i := range page.Claims {
		c := &page.Claims[i]
		if !c.Granted.IsZero() {
			if c.Node == 0 {
				l.held = c
			}
			continue
		}
		l.cmds[c.Cmd] = true
		k := driver.LimitKey{Name: c.Limit, Key: c.Key}
		if lines[k] == nil && len(lines) < whyLinesMax {
			if lines[k], err = readLimitLine(ctx, j, k); err != nil {
				return nil, err
			}
			lines[k].family = family
		}
		l.reasons = append(l.reasons, lines[k].reason(c))
	}
	return l, nil
}

// limitLine is what is known of one line of claims, as of one moment.
type limitLine struct {
	now     time.Time
	bounds  *journal.Limit // of the key; nil if there are none any more
	total   int            // of all keys; 0 for any number
	allHeld int            // of all keys, as far as they were looked at
	rivals  int            // keys that wait, this one too
	use     journal.LimitUse
	claims  []journal.LimitClaim // of the key: those that are held, then those that wait
	others  []journal.LimitClaim // that are held of any key, if Total is full
	family  ancestors            // of who waits
}

func readLimitLine(ctx context.Context, j *driver.Journal, k driver.LimitKey) (*limitLine, error) {
	page, err := j.Limits(ctx, journal.LimitFilter{Name: k.Name, Key: k.Key, Uses: journal.ListMax, Claims: whyClaimsMax})
	if err != nil {
		return nil, err
	}
	l := &limitLine{now: page.Now}
	// A filter without a key is about all of them.
	page.Claims = slices.DeleteFunc(page.Claims, func(c journal.LimitClaim) bool { return c.Key != k.Key })
	for i := range page.Limits {
		row := &page.Limits[i]
		if row.Key == "" {
			l.total = row.Total
		}
		if row.Key == k.Key || row.Key == "" && l.bounds == nil {
			l.bounds = row
		}
	}
	for _, u := range page.Uses {
		if u.Key == k.Key {
			l.use = u
		}
	}
	l.claims = page.Claims
	if l.total == 0 {
		return l, nil
	}
	all, err := j.Limits(ctx, journal.LimitFilter{Name: k.Name, Uses: journal.ListMax, Claims: whyClaimsMax})
	if err != nil {
		return nil, err
	}
	for _, u := range all.Uses {
		l.allHeld += u.Held
		if u.Waiting > 0 {
			l.rivals++
		}
	}
	l.others = holdersOf(all.Claims)
	return l, nil
}

// holdersOf are those of some claims that are held, which stand first. The one that has been held
// for longest comes first.
func holdersOf(claims []journal.LimitClaim) []journal.LimitClaim {
	n := slices.IndexFunc(claims, func(c journal.LimitClaim) bool { return c.Granted.IsZero() })
	if n < 0 {
		n = len(claims)
	}
	list := slices.Clone(claims[:n])
	slices.SortStableFunc(list, func(a, b journal.LimitClaim) int { return a.Granted.Compare(b.Granted) })
	return list
}

// obstacle is what keeps the first of a line from beginning.
type obstacle int

const (
	noObstacle   obstacle = iota // another limit of the step does, or it is about to begin
	keyIsFull                    // as many of the key are held as may be
	totalIsFull                  // as many of all keys are held as may be
	rateIsSpent                  // what may begin in the time has begun
	boundsRemain                 // the limit has been removed
)

func (l *limitLine) obstacle(c *journal.LimitClaim) obstacle {
	switch {
	case l.bounds == nil:
		return boundsRemain
	case l.bounds.Concurrency > 0 && l.use.Held >= l.bounds.Concurrency:
		return keyIsFull
	case l.total > 0 && l.allHeld >= l.total:
		return totalIsFull
	case !l.bounds.Rate.IsZero() && (l.use.NextAt.After(l.now) || c.Cost > 1):
		return rateIsSpent
	}
	return noObstacle
}

// reason says what a claim waits for. l is nil if its line was not looked at.
func (l *limitLine) reason(c *journal.LimitClaim) Reason {
	who, key := "the run", ""
	if c.Step != "" {
		who = "step " + c.Step
	}
	if c.Key != "" {
		key = fmt.Sprintf(", key %q", c.Key)
	}
	r := Reason{Kind: ReasonLimit, Since: c.Since, Text: fmt.Sprintf("%s waits for limit %q%s", who, c.Limit, key), Limit: &LimitWait{Claim: *c}}
	if l == nil {
		r.Limit.Estimate = "the run waits for more limits than are looked at"
		return r
	}
	w := r.Limit
	w.Held, w.Waiting, w.Holders = l.use.Held, l.use.Waiting, holdersOf(l.claims)
	switch l.obstacle(c) {
	case boundsRemain:
		r.Text += ", which has been removed"
		w.Estimate = "it begins when its node asks again, which takes seconds"
	case keyIsFull:
		r.Text += ": " + full(l.bounds.Concurrency, "")
		l.byHolders(w, w.Holders, l.bounds.Concurrency, 1)
		r.Remedy = l.remedy(c, w.Holders, "--concurrency N", l.bounds.Key)
	case totalIsFull:
		r.Text += ": " + full(l.total, " of all keys")
		w.Holders = l.others
		l.byHolders(w, w.Holders, l.total, max(l.rivals, 1))
		r.Remedy = l.remedy(c, w.Holders, "--total N", "")
	case rateIsSpent:
		r.Text += fmt.Sprintf(": its rate is %s", l.bounds.Rate)
		l.byRate(w, c)
		r.Until = w.Expected
		r.Remedy = l.remedy(c, nil, "--rate N/TIME", l.bounds.Key)
	default:
		r.Text += ", which has room: it takes its place when its other limits let it begin, or in a moment"
		w.Estimate = "nothing of this limit holds it up"
	}
	if c.Place > 0 {
		r.Text += fmt.Sprintf("; it is number %d of %d in line", c.Place, max(c.Place, l.use.Waiting))
		if c.Place >= journal.LimitPlaceMax {
			r.Text = strings.Replace(r.Text, "it is number ", "it is behind number ", 1)
		}
	}
	if o := l.obstacle(c); o == keyIsFull || o == totalIsFull {
		l.family.blames(&r)
	}
	r.Text += "; " + w.Estimate
	w.Holders = w.Holders[:min(len(w.Holders), whyHoldersMax)]
	return r
}

// full says that all places are held.
func full(places int, of string) string {
	if places == 1 {
		return fmt.Sprintf("its only place%s is held", of)
	}
	return fmt.Sprintf("all %d places%s are held", places, of)
}

// byHolders estimates when a place is free: who holds one is, on average, in the middle of its
// time, so it keeps the place for twice as long as it has had it; places become free one after
// another, and keys that compete take turns.
func (l *limitLine) byHolders(w *LimitWait, holders []journal.LimitClaim, places, keys int) {
	if len(holders) == 0 {
		w.Estimate = "nobody knows when it begins, because nothing is known of those who hold it"
		return
	}
	var had time.Duration
	for i := range holders {
		had += max(l.now.Sub(holders[i].Granted), 0)
	}
	keep := 2 * had / time.Duration(len(holders))
	wait := time.Duration(float64(keep) * float64(max(w.Claim.Place, 1)*keys) / float64(places))
	w.Expected = l.now.Add(wait)
	w.Estimate = fmt.Sprintf("it may begin in %s, if holders keep a place for %s, which is twice what they have had it for on average",
		about(wait), about(keep))
}

// byRate computes when the rate lets a claim begin, behind all that stands before it in line.
func (l *limitLine) byRate(w *LimitWait, c *journal.LimitClaim) {
	rate := l.bounds.Rate
	var cost, seen int64
	for i := range l.claims {
		if o := &l.claims[i]; o.Granted.IsZero() && o.Place < c.Place {
			cost += o.Cost
			seen++
		}
	}
	if before := int64(c.Place) - 1; before > seen { // more than were looked at: they cost as much as those
		cost += (before - seen) * max(cost, c.Cost*max(seen, 1)) / max(seen, 1)
	}
	cost += min(c.Cost, max(rate.Burst, 1)) - 1
	from := l.now
	if l.use.NextAt.After(from) {
		from = l.use.NextAt
	}
	w.Expected = from.Add(time.Duration(float64(cost) / float64(rate.N) * float64(rate.Per)))
	w.Estimate = fmt.Sprintf("the rate lets it begin in %s", about(w.Expected.Sub(l.now)))
	if c.Place > 1 {
		w.Estimate += ", behind what those before it cost"
	}
}

// remedy is what an operator can do: raise the bound, or take the place of the one that has had it
// for longest.
func (l *limitLine) remedy(c *journal.LimitClaim, holders []journal.LimitClaim, flag, key string) string {
	text := "if more is good for what it protects, raise it: reprise limit set " + shellWord(c.Limit)
	if key != "" {
		text += " --key " + shellWord(key)
	}
	text += " " + flag
	if len(holders) > 0 {
		text += fmt.Sprintf("; if a holder hangs, take its place: reprise limit release %s", holders[0].Handle())
	}
	return text
}

// shellWord is a word for a shell.
func shellWord(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./:@", r))
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// about is a time for people.
func about(d time.Duration) string {
	switch {
	case d < time.Second:
		return "less than a second"
	case d < time.Minute:
		return d.Round(time.Second).String()
	}
	return cmp.Or(strings.TrimSuffix(d.Round(time.Minute).String(), "0s"), "1m")
}
