package driver

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// LimitLine is what a store keeps of one key of a limit.
type LimitLine struct {
	Held    int
	Waiting int
	// Ready is when the rate will be as if nothing had ever begun: the theoretical arrival time of
	// the generic cell rate algorithm, in microseconds of the store's clock. What is held moves it
	// ahead; nothing moves it but claims, and a rate that changes, see LimitReady.
	Ready int64
	// Rated is when the rate last became another one, in microseconds. Lines say so that were held
	// or not Ready then.
	Rated  int64
	Served int64 // when the line last got something, in microseconds; of a limit with a Total
	// Open says that the line waits for the Total alone; of a limit with a Total.
	Open bool
	// LookAt is when a round should look at the line because of runs that wait in it, in
	// microseconds: nobody else does. LookNever is when something of it is freed, 0 that no run
	// waits in it.
	LookAt int64
}

// LookNever is the LookAt of a line that has nothing to give to those who wait.
const LookNever = 1 << 62

// LimitHead is a claim that waits near the head of a line.
type LimitHead struct {
	Node  journal.NodeID
	ID    int64
	Rank  int64 // by which the line is sorted, see Rank
	Since time.Time
	Run   journal.RunID       // of a claim of a run
	Needs []journal.LimitNeed // of the whole want
	Set   int64               // see LimitSetOf; 0 also for one that an older release has stored
	Ranks []int64             // of a claim of a set: the rank in the line of each need
}

// Freed is a claim that a store has taken away: of a release, or of a node that is gone.
type Freed struct {
	LimitKey
	Cost    int64
	Used    int64     // what it has used instead of its cost
	Granted time.Time // zero for one that waited
}

// LimitTable is what a store knows of the lines of one round, under its lock of their limits. The
// store fills it, asks [LimitTable.Grant] what is granted, and writes that down: so the order in
// which limits are given out is in one place, for all stores.
type LimitTable struct {
	Node journal.NodeID // whose round it is; 0 for none
	Now  time.Time      // the store's clock, read under the lock

	limits map[LimitKey]*journal.Limit
	lines  map[LimitKey]*tableLine
	heads  map[LimitGrant]*head
	busy   map[string]bool // limits that another round has locked
	halts  func(r journal.Route) bool
	opened map[string]int  // how many open lines of a limit were read into the table
	moved  map[string]bool // limits of which the round has granted something, or closed a line

	isSpread bool
	passed   map[int64]*head // sets that others of their lines hold up, with a claim of each
	sets     LimitSetWrites

	grants   []LimitGrant
	inserts  []*LimitInsert
	arrivals []*LimitInsert
	begun    []LimitBegin
	aside    []int64
	answer   LimitAnswer
}

// tableLine is a line of the table.
type tableLine struct {
	LimitLine
	key    LimitKey
	limit  *journal.Limit // its bounds; nil for none
	heads  []place
	next   int  // the first head that the present pass has not looked at
	dirty  bool // it differs from what is stored
	retry  bool // a claim in it needs a limit that another round has locked
	closed bool // nothing more of it is granted in this round
	whole  bool // its heads are in the table

	sets    []LimitSet      // in its list, as it was read, without those that are halted
	listed  int             // how many sets were read
	away    map[int64]bool  // what the round has said of sets
	cut     map[int64]place // sets of which more wait than were read, 0 for none, with the last that was
	horizon int64           // others may stand before a claim of a higher rank that were not read
	stopped bool            // all that was read of a set is granted, and more wait, or the horizon is met
	keeper  int64           // the set for which it is closed
	gained  *head           // of a set that comes into the list of a line that is not whole, the one that is due first
}

// place is a place in a line.
type place struct {
	rank int64
	*head
}

// head is a want that may be granted. One that needs several limits is in several lines.
type head struct {
	LimitHead
	granted bool
	entered *LimitInsert // by this round; nil for one that has waited before
}

// LimitHeadsMax is how many claims of one line a round looks at, and how many lines of one limit.
const LimitHeadsMax = 64

// limitSetHeadsMin is how many claims of a set a round looks at, at least, in a line that lists
// many.
const limitSetHeadsMin = 8

// LimitSetHeads is how many claims of each set a round looks at in a line that lists n sets.
func LimitSetHeads(n int) int { return max(LimitHeadsMax/max(n, 1), limitSetHeadsMin) }

func (p place) compare(o place) int {
	return cmp.Or(cmp.Compare(p.rank, o.rank), cmp.Compare(p.Node, o.Node), cmp.Compare(p.ID, o.ID))
}

// read takes in who waits first in the line.
func (l *tableLine) read(t *LimitTable, heads LimitHeads) {
	if l.listed, l.horizon = len(heads.Sets), math.MaxInt64; l.listed >= LimitHeadsMax {
		l.horizon = heads.Sets[l.listed-1].First
	}
	heads = withoutHalted(t, l.key, heads)
	l.sets, l.away, l.cut = heads.Sets, map[int64]bool{}, map[int64]place{}
	for i := range heads.Claims {
		l.heads = append(l.heads, place{heads.Claims[i].Rank, t.headOf(&heads.Claims[i])})
	}
	slices.SortFunc(l.heads, place.compare)
	read := map[int64]int{}
	for _, p := range l.heads {
		set := p.Set
		if read[set]++; read[set] == l.readMax(set) {
			l.cut[set] = p
		}
	}
}

func (l *tableLine) readMax(set int64) int {
	if set == 0 {
		return LimitHeadsMax
	}
	return LimitSetHeads(l.listed)
}

// put puts a claim into its place in the line, unless others of its set may stand before it that
// were not read.
func (l *tableLine) put(p place) {
	if last, cut := l.cut[p.Set]; cut && p.compare(last) > 0 {
		return
	}
	if at, found := slices.BinarySearchFunc(l.heads, p, place.compare); !found {
		l.heads = slices.Insert(l.heads, at, p)
	}
}

// took notes that a claim of a set is granted or gone. When all are that were read of the set and
// there are more, the line stops: those are next.
func (l *tableLine) took(set int64) {
	if _, cut := l.cut[set]; cut {
		l.stopped = l.stopped || !slices.ContainsFunc(l.heads, func(p place) bool { return p.Set == set && !p.granted })
	}
}

// LimitGrant is a stored claim that is granted.
type LimitGrant struct {
	Node journal.NodeID
	ID   int64
}

// LimitBegin is a run that has got its limits, by a claim of node 0.
type LimitBegin struct {
	Run journal.RunID
	ID  int64
}

// LimitInsert is a want to be stored, with the rank in the line of each of its needs.
type LimitInsert struct {
	*Want
	Ranks   []int64
	Set     int64 // see LimitSetOf
	Granted bool
}

// NewLimitTable returns a table of nothing.
func NewLimitTable(node journal.NodeID, now time.Time) *LimitTable {
	return &LimitTable{Node: node, Now: now, limits: map[LimitKey]*journal.Limit{}, lines: map[LimitKey]*tableLine{},
		heads: map[LimitGrant]*head{}, busy: map[string]bool{}, opened: map[string]int{}, moved: map[string]bool{},
		passed: map[int64]*head{}, answer: LimitAnswer{Now: now}}
}

// AddLimit adds a row of a limit: that of all keys, or of a key of the table.
func (t *LimitTable) AddLimit(l journal.Limit) { t.limits[LimitKey{l.Name, l.Key}] = &l }

// AddLine adds what is stored of a line. A line that is not stored is added too, as nothing. The
// limits must be there. heads are those that wait first, and whole says that they are there, or all
// that the round may grant.
func (t *LimitTable) AddLine(key LimitKey, stored LimitLine, heads LimitHeads, whole bool) {
	l := t.lines[key]
	if l == nil {
		l = &tableLine{LimitLine: stored, key: key}
		if l.limit = t.limits[key]; l.limit == nil {
			l.limit = t.limits[LimitKey{Name: key.Name}]
		}
		t.lines[key] = l
	}
	if whole && !l.whole {
		l.whole = true
		l.read(t, heads)
	}
}

// headOf returns the one head of a stored want.
func (t *LimitTable) headOf(stored *LimitHead) *head {
	id := LimitGrant{stored.Node, stored.ID}
	h := t.heads[id]
	if h == nil {
		h = &head{LimitHead: *stored}
		t.heads[id] = h
	}
	return h
}

// Has tells whether a line is in the table.
func (t *LimitTable) Has(key LimitKey) bool { return t.lines[key] != nil }

// Totals are the lines that count all keys of a limit, for those names that need one.
func (t *LimitTable) Totals(names []string) (keys []LimitKey) {
	for _, name := range names {
		if t.total(name) > 0 {
			keys = append(keys, LimitKey{name, totalKey})
		}
	}
	return keys
}

// Missing are lines that claims near the head of a line need beside it, and that are not in the
// table. The store adds them without heads, or says that their limit is busy.
func (t *LimitTable) Missing() (keys []LimitKey) {
	for _, l := range t.lines {
		for _, h := range l.heads {
			for _, n := range h.Needs {
				if k := (LimitKey{n.Name, n.Key}); t.lines[k] == nil && !t.busy[n.Name] {
					keys = append(keys, k)
				}
			}
		}
	}
	slices.SortFunc(keys, LimitKey.compare)
	return slices.Compact(keys)
}

// SetOpened says that the lines which are open for a total are in the table, up to LimitHeadsMax of
// them: so many were read.
func (t *LimitTable) SetOpened(name string, n int) { t.opened[name] = n }

// SetBusy says that another round has locked a limit: nothing that needs it is granted, and the
// answer asks for another round.
func (t *LimitTable) SetBusy(name string) { t.busy[name] = true }

// Drop takes a claim of the node out of the heads of its lines: it was taken away after they were
// read.
func (t *LimitTable) Drop(id int64) {
	h := t.heads[LimitGrant{t.Node, id}]
	if h == nil {
		return
	}
	delete(t.heads, LimitGrant{t.Node, id})
	for _, n := range h.Needs {
		if l := t.lines[LimitKey{n.Name, n.Key}]; l != nil {
			had := len(l.heads)
			if l.heads = slices.DeleteFunc(l.heads, func(p place) bool { return p.head == h }); len(l.heads) < had {
				l.took(h.Set)
			}
		}
	}
}

// Free takes a claim out of its line.
func (t *LimitTable) Free(f Freed) {
	l := t.lines[f.LimitKey]
	if l == nil {
		return
	}
	l.dirty = true
	if f.Granted.IsZero() {
		l.Waiting = max(l.Waiting-1, 0)
		return
	}
	l.Held = max(l.Held-1, 0)
	if l.LookAt != 0 { // until the round has looked
		l.LookAt = t.Now.UnixMicro()
	}
	if total := t.lines[f.LimitKey.Total()]; total != nil {
		total.Held, total.dirty, total.LookAt = max(total.Held-1, 0), true, t.Now.UnixMicro()
	}
	l.settle(f, t.Now.UnixMicro())
}

// settle moves the rate by what a claim has used instead of what it has reserved. What it gives
// back is no more than what has not elapsed since the grant: the rest of the reservation has been
// waited for by nobody, or by all, and a bucket does not keep more than its burst. A claim of an
// earlier rate gives nothing back: what it has reserved and the rates since have left of it is not
// known, and what it gave back beyond that would be what others have reserved (J14).
func (l *tableLine) settle(f Freed, now int64) {
	if l.limit == nil || l.limit.Rate.IsZero() || f.Used == f.Cost {
		return
	}
	if f.Used > f.Cost {
		l.take(now, f.Used-f.Cost)
		return
	}
	if f.Granted.UnixMicro() <= l.Rated {
		return
	}
	left := span(l.limit.Rate, f.Cost) - (now - f.Granted.UnixMicro())
	l.Ready -= max(min(span(l.limit.Rate, f.Cost-f.Used), left), 0)
}

// take moves the rate ahead by a cost. Many that are far beyond any time come to one that is, and
// do not overflow.
func (l *tableLine) take(now, cost int64) {
	l.Ready = min(max(l.Ready, now)+span(l.limit.Rate, cost), 2*spanMax)
}

// spanMax is longer than any rate is asked for.
const spanMax = 1 << 60

// span is how long a rate takes to let a cost begin, in microseconds, rounded up.
func span(r journal.Rate, cost int64) int64 {
	hi, lo := bits.Mul64(uint64(cost), uint64(r.Per.Microseconds()))
	n := uint64(r.N)
	lo, carry := bits.Add64(lo, n-1, 0)
	if hi += carry; hi >= n {
		return spanMax
	}
	q, _ := bits.Div64(hi, lo, n)
	return int64(min(q, spanMax))
}

// LimitDue is when the rate of a line lets a claim of cost 1 begin, in microseconds. limit may be
// nil.
func LimitDue(stored LimitLine, limit *journal.Limit) int64 {
	l := tableLine{LimitLine: stored, limit: limit}
	return l.due(1)
}

// due is when the rate lets a cost begin, in microseconds: the time at which the bucket holds the
// cost, or is full if it can never hold so much.
func (l *tableLine) due(cost int64) int64 {
	if l.limit == nil || l.limit.Rate.IsZero() {
		return 0
	}
	r := l.limit.Rate
	return l.Ready + span(r, min(cost, r.Burst)) - span(r, r.Burst)
}

// total is how many claims of all keys of a limit may be held; 0 for any number.
func (t *LimitTable) total(name string) int {
	if l := t.limits[LimitKey{Name: name}]; l != nil {
		return l.Total
	}
	return 0
}

// rank is by what a line is sorted: claims of a priority stand as far behind those of the priority
// above as the limit's ageing says.
func (l *tableLine) rank(w *Want) int64 {
	ageing := journal.LimitAgeingDefault
	if l.limit != nil {
		ageing = l.limit.Ageing
	}
	return w.Since.UnixMicro() + int64(w.Priority)*ageing.Microseconds()
}

// share is how much of a Total a line has, for its weight.
func (l *tableLine) share() float64 {
	weight := 1
	if l.limit != nil && l.limit.Weight > 0 {
		weight = l.limit.Weight
	}
	return float64(l.Held) / float64(weight)
}
