package driver

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// LimitKey is one key of a limit.
type LimitKey struct{ Name, Key string }

// totalKey is the key that counts what is held of all keys of a limit. No claim has it: keys that
// begin with ~ are reserved.
const totalKey = "~total"

// Total is the key that counts all keys of the limit.
func (k LimitKey) Total() LimitKey { return LimitKey{k.Name, totalKey} }

// CompareLimitKeys orders keys by name and key.
func CompareLimitKeys(a, b LimitKey) int { return a.compare(b) }

func (k LimitKey) compare(o LimitKey) int {
	return cmp.Or(cmp.Compare(k.Name, o.Name), cmp.Compare(k.Key, o.Key))
}

// Want asks for claims of all limits that a step names: all of them or none.
type Want struct {
	ID       int64 // of the node, never used again by it
	Run      journal.RunID
	Cmd      journal.Cmd
	Step     string
	Priority int16
	Since    time.Time // when the step fell due, by the store's clock
	Needs    []journal.LimitNeed
	Route    journal.Route // of a run that waits to begin; zero for a step, whose node has begun
	// Held says that the node executes the step already, by a grant that the store does not know
	// any more: it went back in time. The claims are held then, whatever the limits say, so that as
	// few as possible are held beside them.
	Held bool
}

// LimitRelease ends a want, whether it waits or is held.
type LimitRelease struct {
	ID    int64
	Needs []journal.LimitNeed // those of the want, with what was used of each instead of its cost
}

// LimitRound is all that a node wants of limits at once. A round is repeatable: if its answer is
// lost, the node compares, and sends again what the store does not have, with Repeats.
type LimitRound struct {
	Wants    []Want
	Releases []LimitRelease
	Look     []LimitKey // lines in which the node waits, and whose rate may let somebody begin
	// Held asks for all wants that the node holds: some were granted by others. Compare asks for
	// all that the store knows of the node.
	Held, Compare bool
	// Repeats says that the store may have some of the wants by an earlier round, which may have
	// happened behind the comparison. Those stay as they are. With Compare it is always so.
	Repeats bool
	// Runs takes in the claims of runs that have fallen due or ended since the last round that did,
	// and looks at lines that are worth it because of runs. Any node may do so.
	Runs bool
	// Late, if there is one, adds what has come since the round was made, of limits that the round
	// names. A store calls [LimitRound.Gather] once it has the locks of these. So what ends while
	// the round of another node has the locks is not kept waiting for one more round of each. One
	// with Compare or Repeats has no Late: what the store has is read before.
	Late func(r *LimitRound)
}

// Gather adds what Late knows, once, also if the store tries the round again. The round has the
// same names as before. An error is a bug of ours, as in all rounds, and nothing is carried out.
func (r *LimitRound) Gather() error {
	late := r.Late
	if late == nil {
		return nil
	}
	r.Late = nil
	names := LimitNames(r.Keys())
	late(r)
	for _, name := range LimitNames(r.Keys()) {
		if _, locked := slices.BinarySearch(names, name); !locked {
			return fmt.Errorf("a round was given late wants of limit %q, which it has not locked: %w", name, journal.ErrInvalid)
		}
	}
	return r.check()
}

// MayKnow tells whether the store may have some of the wants already.
func (r *LimitRound) MayKnow() bool { return r.Compare || r.Repeats }

// Size is how many members the round has.
func (r *LimitRound) Size() int { return len(r.Wants) + len(r.Releases) + len(r.Look) }

// Keys are the lines that the round is about, sorted, and each once.
func (r *LimitRound) Keys() (keys []LimitKey) {
	add := func(needs []journal.LimitNeed) {
		for _, n := range needs {
			keys = append(keys, LimitKey{n.Name, n.Key})
		}
	}
	for i := range r.Wants {
		add(r.Wants[i].Needs)
	}
	for i := range r.Releases {
		add(r.Releases[i].Needs)
	}
	keys = append(keys, r.Look...)
	slices.SortFunc(keys, LimitKey.compare)
	return slices.Compact(keys)
}

// LimitNames are the names of keys that are sorted, each once: what a store locks, in this order.
func LimitNames(keys []LimitKey) (names []string) {
	for _, k := range keys {
		names = append(names, k.Name)
	}
	return slices.Compact(names)
}

// KnownClaim is what a store knows of a want.
type KnownClaim struct {
	ID    int64
	Held  bool
	Needs []journal.LimitNeed
}

// LimitAnswer is the answer to a round.
type LimitAnswer struct {
	Granted []int64          // wants of the node that the round has granted
	Others  []journal.NodeID // nodes that have got grants by it, and should ask what they hold
	Claims  []KnownClaim     // with Held or Compare, as of behind the round
	// Again are lines in which more may be granted at once: another round had them, or more were
	// waiting than a round looks at.
	Again []LimitKey
	Busy  bool // of Again another round had some
	// Due is when the rate lets the first of a line begin.
	Due     map[LimitKey]time.Time
	Unknown []string // names that the round wants and that have no limit: they bound nothing
	Runs    int      // how many runs may begin by it
	More    bool     // with Runs: there is more to take in at once
	// Next is, with Runs, when there will be something to take in, as far as it is known; zero for
	// nothing. A time that is over says that something has come since the round has looked.
	Next time.Time
	Now  time.Time
}

// check refuses a round that no store carries out. It is our own bug, never a user's.
func (r *LimitRound) check() error {
	if n := r.Size(); n > journal.LimitRoundMax {
		return &journal.LimitError{What: "wants and releases of a round", Size: n, Max: journal.LimitRoundMax}
	}
	if r.MayKnow() && r.Late != nil {
		return fmt.Errorf("a round that compares or repeats has late wants: %w", journal.ErrInvalid)
	}
	for i := range r.Wants {
		w := &r.Wants[i]
		if len(w.Needs) == 0 || w.Run.IsZero() {
			return fmt.Errorf("want %d of run %s needs no limit: %w", w.ID, w.Run, journal.ErrInvalid)
		}
		if err := journal.CheckLimitNeeds(w.Needs); err != nil {
			return err
		}
		if err := journal.CheckPriority(w.Priority); err != nil {
			return err
		}
	}
	return nil
}

// LimitRow is what an operator has changed of a limit, for a store that writes it.
type LimitRow struct {
	Key     LimitKey
	Detail  string // for the audit; empty if nothing changes
	Totals  bool   // whether the limit has a Total from now on, and had none
	NoTotal bool   // whether it has none from now on, and had one
	// Was and Is are the rates before and behind the change: of the key of the row, or of all keys
	// that have no row of their own.
	Was, Is journal.Rate
	// Reshares tells whether lines come to have another share of the Total: that of the key of the
	// row, or of all keys that have no row of their own. A round finds keys by the share that is
	// stored, of which it reads the lowest, so the store computes it anew for all of these lines.
	Reshares bool
}

// Rerates tells whether lines come to have another rate. The store moves each of those that the row
// is for and that is held or not Ready: its Ready as LimitReady says, its Rated to now. A burst
// alone moves none: it is only looked at when something is to begin.
func (r *LimitRow) Rerates() bool {
	was, is := r.Was, r.Is
	was.Burst, is.Burst = 0, 0
	return was != is
}

// LimitChange is what an action changes of the row that a limit has, nil for none. all is the row
// for all keys, whose rate holds for a key that has no row.
func (a *AdminAction) LimitChange(has, all *journal.Limit) LimitRow {
	l := a.Limit
	row := LimitRow{Key: LimitKey{l.Name, l.Key}, Is: l.Rate}
	if a.Kind == AdminRemoveLimit {
		row.Is = journal.Rate{}
	}
	if all != nil && l.Key != "" { // it holds while the key has no row
		row.Was = all.Rate
		if a.Kind == AdminRemoveLimit {
			row.Is = all.Rate
		}
	}
	if has != nil {
		row.Was = has.Rate
	}
	had := 0
	if has != nil {
		had = has.Total
	}
	row.Reshares = true
	if a.Kind == AdminSetLimit && has != nil {
		row.Reshares = l.Weight != has.Weight || had == 0 && l.Total > 0
	}
	if a.Kind == AdminRemoveLimit {
		if row.NoTotal = had > 0; has != nil {
			row.Detail = has.String()
		}
		return row
	}
	row.Totals, row.NoTotal = l.Total > 0 && had == 0, l.Total == 0 && had > 0
	switch {
	case has == nil:
		row.Detail = l.String()
	case !sameBounds(l, has):
		_, was, _ := strings.Cut(has.String(), ": ")
		row.Detail = l.String() + ", before " + was
	}
	return row
}

// sameBounds tells whether two limits differ in nothing but who has set them.
func sameBounds(a, b *journal.Limit) bool {
	x, y := *a, *b
	x.Time, x.Actor, x.Reason = time.Time{}, "", ""
	y.Time, y.Actor, y.Reason = time.Time{}, "", ""
	return x == y
}

// ClaimDetail is what the audit says of a claim that an operator releases. It begins with the
// claim's handle, by which the node hears of the release, see ReleasesClaim.
func (a *AdminAction) ClaimDetail(c *journal.LimitClaim) string {
	if c.Node == 0 {
		return fmt.Sprintf("claim %s, limit %q, key %q, of the run itself", a.Claim.Handle(), c.Limit, c.Key)
	}
	return fmt.Sprintf("claim %s, limit %q, key %q, step %q of node %d", a.Claim.Handle(), c.Limit, c.Key, c.Step, c.Node)
}

// ReleasesClaim tells whether an entry of the audit is the release of a claim.
func ReleasesClaim(e *journal.AuditEntry, node journal.NodeID, id int64) bool {
	c := journal.LimitClaim{Node: node, ID: id}
	return e.Verb == AdminReleaseClaim.String() && strings.HasPrefix(e.Detail, "claim "+c.Handle()+", ")
}

// checkLimitFilter refuses a filter, and fills its defaults in.
func checkLimitFilter(f *journal.LimitFilter) error {
	if f.Name == "" && f.Key != "" {
		return fmt.Errorf("limits of key %q: %w: name the limit, too", f.Key, journal.ErrInvalid)
	}
	for _, n := range []int{f.Uses, f.Claims} {
		if n < 0 || n > journal.ListMax {
			return &journal.LimitError{What: "limits in a page", Size: n, Max: journal.ListMax}
		}
	}
	if err := journal.CheckText("limit name", f.Name, journal.NameBytesMax); err != nil {
		return err
	}
	return journal.CheckText("limit key", f.Key, journal.KeyBytesMax)
}

// EncodeRunLimits returns the stored form of what a run needs of limits.
func EncodeRunLimits(needs []journal.LimitNeed) (string, error) {
	if len(needs) == 0 {
		return "", nil
	}
	text, err := json.Marshal(needs)
	return string(text), err
}

// DecodeRunLimits reads what EncodeRunLimits wrote. The error is [ErrMalformed].
func DecodeRunLimits(text string) (needs []journal.LimitNeed, err error) {
	if text == "" {
		return nil, nil
	}
	if err := json.Unmarshal([]byte(text), &needs); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return needs, nil
}

// EncodeLimitNeeds is how stores keep all that a want needs beside one need; empty for a want that
// needs nothing else.
func EncodeLimitNeeds(needs []journal.LimitNeed) (string, error) {
	if len(needs) == 1 {
		return "", nil
	}
	text, err := json.Marshal(needs)
	return string(text), err
}

// DecodeLimitNeeds reads what EncodeLimitNeeds has returned for a want of which one need is known.
func DecodeLimitNeeds(text string, one journal.LimitNeed) (needs []journal.LimitNeed, err error) {
	if text == "" {
		return []journal.LimitNeed{one}, nil
	}
	if err = json.Unmarshal([]byte(text), &needs); err == nil && len(needs) == 0 {
		err = fmt.Errorf("%w: a claim of no limit", ErrMalformed)
	}
	return needs, err
}
