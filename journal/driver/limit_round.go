package driver

import (
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// LimitRows are the rows of limits of a store that has them at hand, in the transaction of a round.
// A store across a network reads them in bulk instead, see package postgres.
type LimitRows interface {
	Limit(k LimitKey) (*journal.Limit, error)                    // nil if there is none
	Line(k LimitKey) (LimitLine, error)                          // zero if there is none
	Heads(k LimitKey) (LimitHeads, error)                        // those who wait first
	Open(name string, max int) ([]LimitKey, error)               // lines that are open: least share first, then least recently served
	Known(node journal.NodeID, id int64) (bool, error)           // whether there is such a want
	Remove(node journal.NodeID, id int64) ([]Freed, error)       // a want, with Used as Cost
	Claims(node journal.NodeID, held bool) ([]KnownClaim, error) // of a node; held: only those that are
	Write(t *LimitTable) error                                   // lines, sets, inserts and grants
	Removed(node journal.NodeID, max int) ([]int64, error)       // ids of wants of a node that is gone

	// News are claims of runs that are due or have ended, and that no round has taken in: by since,
	// then by id.
	News(now time.Time, max int) ([]LimitNews, error)
	LooksAt(now time.Time, max int) ([]LimitKey, error) // lines whose LookAt has come, that first
	NextNews(now time.Time) (time.Time, error)          // when the next of these is due, of those that are not yet

	Halts() (func(r journal.Route) bool, error) // see LimitHalts
	// Unhalt puts sets that are noted as halted into the lists of their lines again, of routes that
	// are not: those with the lowest First of each route. It returns these lines.
	Unhalt(halts func(r journal.Route) bool, max int) ([]LimitKey, error)
}

// LimitNews is a claim of a run that a round takes in: the run has come to wait, has ended, or was
// paused while it waits. One that is paused and in no line is no news until it is resumed: then it
// comes to wait again, and its place follows from its Since as before.
type LimitNews struct {
	Want
	Set     int64     // once it has been in its lines
	Counted bool      // whether it is in its lines
	Ended   bool      // it is to be taken away
	Paused  bool      // it is to be taken out of its lines, if it waits there
	Granted time.Time // zero while it waits
}

// LimitNewsMax is how many claims of runs one round takes in, and LimitLooksMax at how many lines
// it looks because of runs.
const (
	LimitNewsMax  = 500
	LimitLooksMax = 100
)

// LimitHaltedMax is how many routes with halted sets the rounds for runs tell apart.
const LimitHaltedMax = 1_000

// DoLimitRound carries a round out.
func DoLimitRound(rows LimitRows, node journal.NodeID, r *LimitRound, now time.Time) (LimitAnswer, error) {
	if err := r.Gather(); err != nil {
		return LimitAnswer{}, err
	}
	f := limitFiller{rows: rows, t: NewLimitTable(node, now)}
	halts, err := rows.Halts()
	if err != nil {
		return LimitAnswer{}, err
	}
	f.t.SetHalts(halts)
	freed, err := f.remove(r.Releases)
	if err != nil {
		return LimitAnswer{}, err
	}
	keys := r.Keys()
	var news []LimitNews
	if r.Runs {
		if news, err = rows.News(now, LimitNewsMax); err != nil {
			return LimitAnswer{}, err
		}
		looks, err := rows.LooksAt(now, LimitLooksMax)
		if err != nil {
			return LimitAnswer{}, err
		}
		back, err := rows.Unhalt(halts, LimitLooksMax)
		if err != nil {
			return LimitAnswer{}, err
		}
		keys = WithNews(slices.Concat(keys, looks, back), news)
		f.t.answer.More = len(news) == LimitNewsMax || len(looks) == LimitLooksMax || len(back) == LimitLooksMax
	}
	if err := f.fill(keys); err != nil {
		return LimitAnswer{}, err
	}
	arrived, ended := f.t.TakeIn(news)
	for _, id := range ended {
		if _, err := rows.Remove(0, id); err != nil {
			return LimitAnswer{}, err
		}
	}
	for i := range freed {
		f.t.Free(freed[i])
	}
	wants, err := f.fresh(r)
	if err != nil {
		return LimitAnswer{}, err
	}
	f.t.Arrive(arrived)
	f.t.Grant(wants)
	if err := rows.Write(f.t); err != nil {
		return LimitAnswer{}, err
	}
	answer := f.t.Answer()
	if r.Held || r.Compare {
		if answer.Claims, err = rows.Claims(node, !r.Compare); err != nil {
			return LimitAnswer{}, err
		}
	}
	if r.Runs {
		answer.Next, err = rows.NextNews(now)
	}
	return answer, err
}

// WithNews are the lines of a round with those that news are about, sorted, and each once.
func WithNews(keys []LimitKey, news []LimitNews) []LimitKey {
	for i := range news {
		for _, n := range news[i].Needs {
			keys = append(keys, LimitKey{n.Name, n.Key})
		}
	}
	slices.SortFunc(keys, LimitKey.compare)
	return slices.Compact(keys)
}

// TakeIn frees what has ended of the news, whose ids it returns. It takes what was paused out of
// its lines, see Aside, and returns those that have arrived, for Arrive. The lines of all of them
// are in the table, without the paused ones as heads.
func (t *LimitTable) TakeIn(news []LimitNews) (arrived []Want, ended []int64) {
	for i := range news {
		n := &news[i]
		switch {
		case n.Ended:
			ended = append(ended, n.ID)
			leave(t, n)
			for k := 0; k < len(n.Needs) && n.Counted; k++ {
				need := &n.Needs[k]
				t.Free(Freed{LimitKey: LimitKey{need.Name, need.Key}, Cost: need.Cost, Used: need.Cost, Granted: n.Granted})
			}
		case n.Paused && n.Granted.IsZero():
			t.aside = append(t.aside, n.ID)
			leave(t, n)
			for _, need := range n.Needs {
				t.Free(Freed{LimitKey: LimitKey{need.Name, need.Key}})
			}
		case !n.Counted:
			arrived = append(arrived, n.Want)
		}
	}
	return arrived, ended
}

// FreeLimits frees what a node has, which is gone.
func FreeLimits(rows LimitRows, node journal.NodeID, now time.Time) error {
	for {
		ids, err := rows.Removed(node, journal.LimitRoundMax)
		if err != nil || len(ids) == 0 {
			return err
		}
		f := limitFiller{rows: rows, t: NewLimitTable(0, now)}
		for _, id := range ids {
			list, err := rows.Remove(node, id)
			for i := 0; i < len(list) && err == nil; i++ {
				if err = f.lines([]LimitKey{list[i].LimitKey}, false); err == nil {
					f.t.Free(list[i])
				}
			}
			if err != nil {
				return err
			}
		}
		if err := rows.Write(f.t); err != nil {
			return err
		}
	}
}

// limitFiller fills a table.
type limitFiller struct {
	rows LimitRows
	t    *LimitTable
}

// remove takes the released wants away. What they have used is what the release says.
func (f *limitFiller) remove(releases []LimitRelease) (freed []Freed, err error) {
	for i := range releases {
		list, err := f.rows.Remove(f.t.Node, releases[i].ID)
		if err != nil {
			return nil, err
		}
		for k := range list {
			list[k].Used = releases[i].Used(list[k].LimitKey, list[k].Cost)
		}
		freed = append(freed, list...)
	}
	return freed, nil
}

// Used is what a released want has used of a limit.
func (r *LimitRelease) Used(k LimitKey, cost int64) int64 {
	for _, n := range r.Needs {
		if n.Name == k.Name {
			return n.Cost
		}
	}
	return cost
}

// fresh are the wants of the round that the store does not know.
func (f *limitFiller) fresh(r *LimitRound) (wants []Want, err error) {
	if !r.MayKnow() {
		return r.Wants, nil
	}
	for i := range r.Wants {
		known, err := f.rows.Known(f.t.Node, r.Wants[i].ID)
		if err != nil {
			return nil, err
		}
		if !known {
			wants = append(wants, r.Wants[i])
		}
	}
	return wants, nil
}

// fill adds the lines of a round, those that are open for the same Totals, and what the heads of
// all of these need beside them.
func (f *limitFiller) fill(keys []LimitKey) error {
	if err := f.lines(keys, true); err != nil {
		return err
	}
	totals := f.t.Totals(LimitNames(keys))
	for _, total := range totals {
		open, err := f.rows.Open(total.Name, LimitHeadsMax)
		if err == nil {
			f.t.SetOpened(total.Name, len(open))
			err = f.lines(open, true)
		}
		if err != nil {
			return err
		}
	}
	return f.lines(f.t.Missing(), false)
}

// lines adds lines with their limits and totals, and with their heads if whole.
func (f *limitFiller) lines(keys []LimitKey, whole bool) error {
	for _, k := range keys {
		for _, row := range []LimitKey{{Name: k.Name}, k} {
			l, err := f.rows.Limit(row)
			if err != nil {
				return err
			}
			if l != nil {
				f.t.AddLimit(*l)
			}
		}
		add := []LimitKey{k}
		if k.Key != totalKey {
			add = append(add, f.t.Totals([]string{k.Name})...)
		}
		for _, k := range add {
			line, err := f.rows.Line(k)
			var heads LimitHeads
			if err == nil && whole && k.Key != totalKey {
				heads, err = f.rows.Heads(k)
			}
			if err != nil {
				return err
			}
			f.t.AddLine(k, line, heads, whole && k.Key != totalKey)
		}
	}
	return nil
}
