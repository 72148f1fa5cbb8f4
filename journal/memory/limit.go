package memory

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// limits are the rows of limits, of their lines and of what nodes have claimed.
type limits struct {
	rows   map[driver.LimitKey]journal.Limit
	lines  map[driver.LimitKey]*limitLine
	claims map[driver.LimitGrant]*limitClaim
	sets   limitSets
	runs   runClaims
	halts  func(r journal.Route) bool // of the present round
}

// limitLine is a line. Those that wait in it are sorted.
type limitLine struct {
	driver.LimitLine
	share   float64
	waiting []limitPlace
}

// limitPlace is the place of a claim in a line.
type limitPlace struct {
	rank int64
	driver.LimitGrant
}

// limitClaim is a want of a node.
type limitClaim struct {
	driver.Want
	ranks   []int64
	set     int64     // once it is in its lines
	granted time.Time // zero while it waits

	counted bool // of a run: a round has put it into its lines
	ended   bool // of a run: a round is to take it away
	paused  bool // of a run: it is in no line, or a round is to take it out
}

func newLimits() limits {
	return limits{rows: map[driver.LimitKey]journal.Limit{}, lines: map[driver.LimitKey]*limitLine{}, claims: map[driver.LimitGrant]*limitClaim{},
		sets: limitSets{}, runs: newRunClaims()}
}

// clone returns rows that the original can be changed without. The ranks of a claim are never
// changed, but replaced.
func (l limits) clone() limits {
	c := limits{rows: maps.Clone(l.rows), lines: map[driver.LimitKey]*limitLine{}, claims: map[driver.LimitGrant]*limitClaim{},
		sets: maps.Clone(l.sets), runs: l.runs.clone()}
	for k, line := range l.lines {
		copied := *line
		copied.waiting = slices.Clone(line.waiting)
		c.lines[k] = &copied
	}
	for k, claim := range l.claims {
		copied := *claim
		c.claims[k] = &copied
	}
	return c
}

func comparePlaces(a, b limitPlace) int {
	return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.Node, b.Node), cmp.Compare(a.ID, b.ID))
}

// Limit implements driver.LimitRows.
func (l *limits) Limit(k driver.LimitKey) (*journal.Limit, error) {
	if row, ok := l.rows[k]; ok {
		return &row, nil
	}
	return nil, nil
}

// Line implements driver.LimitRows.
func (l *limits) Line(k driver.LimitKey) (driver.LimitLine, error) {
	if line := l.lines[k]; line != nil {
		return line.LimitLine, nil
	}
	return driver.LimitLine{}, nil
}

// Open implements driver.LimitRows.
func (l *limits) Open(name string, max int) (keys []driver.LimitKey, err error) {
	for k, line := range l.lines {
		if k.Name == name && line.Open {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b driver.LimitKey) int {
		return cmp.Or(cmp.Compare(l.lines[a].share, l.lines[b].share), cmp.Compare(l.lines[a].Served, l.lines[b].Served), cmp.Compare(a.Key, b.Key))
	})
	return keys[:min(max, len(keys))], nil
}

// Known implements driver.LimitRows.
func (l *limits) Known(node journal.NodeID, id int64) (bool, error) {
	return l.claims[driver.LimitGrant{Node: node, ID: id}] != nil, nil
}

// Remove implements driver.LimitRows.
func (l *limits) Remove(node journal.NodeID, id int64) (freed []driver.Freed, err error) {
	g := driver.LimitGrant{Node: node, ID: id}
	c := l.claims[g]
	if c == nil {
		return nil, nil
	}
	delete(l.claims, g)
	if l.runs.forget(g, c.Run); node == 0 && !c.counted {
		return nil, nil
	}
	for i, n := range c.Needs {
		k := driver.LimitKey{Name: n.Name, Key: n.Key}
		if c.granted.IsZero() {
			l.unline(k, limitPlace{c.ranks[i], g})
		}
		freed = append(freed, driver.Freed{LimitKey: k, Cost: n.Cost, Used: n.Cost, Granted: c.granted})
	}
	return freed, nil
}

func (l *limits) unline(k driver.LimitKey, p limitPlace) {
	line := l.lines[k]
	if at, found := slices.BinarySearchFunc(line.waiting, p, comparePlaces); found {
		line.waiting = slices.Delete(line.waiting, at, at+1)
	}
}

// Removed implements driver.LimitRows.
func (l *limits) Removed(node journal.NodeID, max int) (ids []int64, err error) {
	for g := range l.claims {
		if g.Node == node {
			ids = append(ids, g.ID)
		}
	}
	slices.Sort(ids)
	return ids[:min(max, len(ids))], nil
}

// Claims implements driver.LimitRows.
func (l *limits) Claims(node journal.NodeID, held bool) (list []driver.KnownClaim, err error) {
	ids, _ := l.Removed(node, len(l.claims))
	for _, id := range ids {
		c := l.claims[driver.LimitGrant{Node: node, ID: id}]
		if held && c.granted.IsZero() {
			continue
		}
		list = append(list, driver.KnownClaim{ID: id, Held: !c.granted.IsZero(), Needs: slices.Clone(c.Needs)})
	}
	return list, nil
}

// Write implements driver.LimitRows.
func (l *limits) Write(t *driver.LimitTable) error {
	for _, id := range t.Aside() { // ahead of the lines, of which an idle one is forgotten
		l.setAside(id)
	}
	for _, w := range t.Lines() {
		line := l.lines[w.LimitKey]
		if line == nil {
			line = &limitLine{}
			l.lines[w.LimitKey] = line
		}
		if line.LimitLine, line.share = w.LimitLine, w.Share; w.Idle(t.Now) {
			delete(l.lines, w.LimitKey)
		}
	}
	for _, in := range t.Inserts() {
		c := &limitClaim{Want: *in.Want, ranks: in.Ranks, set: in.Set}
		c.Needs = slices.Clone(c.Needs)
		g := driver.LimitGrant{Node: t.Node, ID: in.ID}
		l.claims[g] = c
		l.enter(g, c, in.Granted, t.Now)
	}
	for _, in := range t.Arrivals() {
		l.arrive(in, t.Now)
	}
	l.sets.write(t.Sets(), l.setWaits)
	l.runs.begun = append(l.runs.begun, t.Begun()...)
	for _, g := range t.Grants() {
		c := l.claims[g]
		c.granted = t.Now
		for i, n := range c.Needs {
			l.unline(driver.LimitKey{Name: n.Name, Key: n.Key}, limitPlace{c.ranks[i], g})
		}
	}
	return nil
}

// enter puts a claim into its lines, or notes that it is held.
func (l *limits) enter(g driver.LimitGrant, c *limitClaim, granted bool, now time.Time) {
	if granted {
		c.granted = now
		return
	}
	for i, n := range c.Needs {
		line := l.lines[driver.LimitKey{Name: n.Name, Key: n.Key}]
		at, _ := slices.BinarySearchFunc(line.waiting, limitPlace{c.ranks[i], g}, comparePlaces)
		line.waiting = slices.Insert(line.waiting, at, limitPlace{c.ranks[i], g})
	}
}

// arrive puts a claim of a run into its lines.
func (l *limits) arrive(in *driver.LimitInsert, now time.Time) {
	g := driver.LimitGrant{ID: in.ID}
	c := l.claims[g]
	c.counted, c.ranks, c.set = true, in.Ranks, in.Set
	delete(l.runs.news, in.ID)
	l.enter(g, c, in.Granted, now)
}

// bounds are those of a line, nil for none.
func (l *limits) bounds(k driver.LimitKey) *journal.Limit {
	row, _ := l.Limit(k)
	if row == nil {
		row, _ = l.Limit(driver.LimitKey{Name: k.Name})
	}
	return row
}
