package journal

import (
	"fmt"
	"strings"
	"time"
)

// Limit bounds how many steps of all runs are executed at once, or begin in a time: those whose
// options name it. It counts for each key by itself, and over all keys together. A name that has no
// limit bounds nothing.
//
// A limit has a row for all of its keys, and may have rows for some of them, whose bounds differ: a
// tenant that has paid for more.
type Limit struct {
	Name string
	Key  string // the only key that the row is for; empty for all that have no row of their own

	Concurrency int  // how many claims of one key are held at once; 0 for any number
	Total       int  // and of all keys together; 0 for any number; not in the row of one key
	Rate        Rate // of one key; the zero value for any

	// Weight is the share of a key in Total, beside those of other keys that wait; 0 means 1.
	Weight int
	// Ageing is how long a claim waits until it is as urgent as a fresh one of the priority above
	// it; 0 means [LimitAgeingDefault]. It gives a claim its place when the claim comes to wait: a
	// change moves none that waits already.
	Ageing time.Duration

	// MaxBacklog is how many runs may wait for one key that no place is free for; 0 for any number.
	// A change moves none that waits already. Steps do not count, and none is refused. It does not
	// bound runs with [Start].BeyondBacklog, nor those that are opened again.
	MaxBacklog int
	// OnFull is what happens to a run that comes when so many wait. It needs a MaxBacklog.
	OnFull OnFull

	Time   time.Time // of the last change, by the store's clock
	Actor  string    // who has made it
	Reason string
}

// Rate bounds what begins in a time: in any time of length Per begin claims that cost at most N +
// Burst, or N and the largest single cost, if that is larger. It says nothing if N is 0.
type Rate struct {
	N     int64
	Per   time.Duration
	Burst int64 // what may begin at once after a pause; 0 means 1, so that all is spread evenly
}

// IsZero tells whether the rate bounds nothing.
func (r Rate) IsZero() bool { return r.N == 0 }

// String is the rate as people write it: 100 per 1m0s, burst 10.
func (r Rate) String() string {
	if r.IsZero() {
		return "any rate"
	}
	text := fmt.Sprintf("%d per %s", r.N, r.Per)
	if r.Burst > 1 {
		text += fmt.Sprintf(", burst %d", r.Burst)
	}
	return text
}

// Key of a claim that has no other.
const noKey = ""

// Check refuses a limit that no store takes, and fills the defaults in. The error says which field
// is wrong, and what it may be; it wraps ErrInvalid or is a LimitError.
func (l *Limit) Check() error {
	if err := CheckName("limit name", l.Name); err != nil {
		return err
	}
	if err := CheckKey("limit key", l.Key); err != nil {
		return err
	}
	refuse := func(field string, v any, want string) error {
		return fmt.Errorf("limit %q: %s is %v: %w: it must be %s", l.Name, field, v, ErrInvalid, want)
	}
	switch r := &l.Rate; {
	case l.Concurrency < 0 || l.Concurrency > LimitHoldersMax:
		return refuse("Concurrency", l.Concurrency, fmt.Sprintf("from 1 to %d, or 0 for any number", LimitHoldersMax))
	case l.Total < 0 || l.Total > LimitHoldersMax:
		return refuse("Total", l.Total, fmt.Sprintf("from 1 to %d, or 0 for any number", LimitHoldersMax))
	case l.Total > 0 && l.Key != noKey:
		return refuse("Total", l.Total, fmt.Sprintf("0 in the row of key %q: it is about all keys together", l.Key))
	case r.N < 0 || r.N > LimitCostMax:
		return refuse("Rate.N", r.N, fmt.Sprintf("from 1 to %d, or 0 for any rate", int64(LimitCostMax)))
	case r.N == 0 && (r.Per != 0 || r.Burst != 0):
		return refuse("Rate.N", r.N, "positive, if Rate.Per or Rate.Burst is set")
	case r.N > 0 && (r.Per < time.Millisecond || r.Per > LimitPerMax):
		return refuse("Rate.Per", r.Per, fmt.Sprintf("from 1ms to %s", LimitPerMax))
	case r.Burst < 0 || r.Burst > LimitCostMax:
		return refuse("Rate.Burst", r.Burst, fmt.Sprintf("from 1 to %d, or 0 for 1", int64(LimitCostMax)))
	case l.Weight < 0 || l.Weight > LimitWeightMax:
		return refuse("Weight", l.Weight, fmt.Sprintf("from 1 to %d, or 0 for 1", LimitWeightMax))
	case l.Ageing < 0 || l.Ageing > LimitPerMax:
		return refuse("Ageing", l.Ageing, fmt.Sprintf("positive and at most %s, or 0 for %s", LimitPerMax, LimitAgeingDefault))
	case l.MaxBacklog < 0 || l.MaxBacklog > LimitBacklogMax:
		return refuse("MaxBacklog", l.MaxBacklog, fmt.Sprintf("from 1 to %d, or 0 for any number", LimitBacklogMax))
	case l.Concurrency == 0 && l.Total == 0 && l.Rate.IsZero() && l.Key == noKey:
		return fmt.Errorf("limit %q bounds nothing: %w: set Concurrency, Total or Rate, or remove the limit", l.Name, ErrInvalid)
	}
	if want := l.OnFull.check(l.MaxBacklog); want != "" {
		return refuse("OnFull", l.OnFull, want)
	}
	l.OnFull = l.OnFull.orDefault(l.MaxBacklog)
	if l.Rate.N > 0 && l.Rate.Burst == 0 {
		l.Rate.Burst = 1
	}
	if l.Weight == 0 {
		l.Weight = 1
	}
	if l.Ageing == 0 {
		l.Ageing = LimitAgeingDefault
	}
	return nil
}

// String says what the limit bounds: limit "api", key "t1": 5 at once; 100 per 1m0s, burst 10.
func (l *Limit) String() string {
	text := fmt.Sprintf("limit %q", l.Name)
	if l.Key != noKey {
		text += fmt.Sprintf(", key %q", l.Key)
	}
	var bounds []string
	if l.Concurrency > 0 {
		bounds = append(bounds, fmt.Sprintf("%d at once", l.Concurrency))
	}
	if l.Total > 0 {
		bounds = append(bounds, fmt.Sprintf("%d at once over all keys", l.Total))
	}
	if !l.Rate.IsZero() {
		bounds = append(bounds, l.Rate.String())
	}
	if l.Weight > 1 {
		bounds = append(bounds, fmt.Sprintf("weight %d", l.Weight))
	}
	if l.MaxBacklog > 0 {
		bounds = append(bounds, fmt.Sprintf("backlog %d, then %s", l.MaxBacklog, l.OnFull))
	}
	if len(bounds) == 0 {
		bounds = []string{"no bounds"}
	}
	return text + ": " + strings.Join(bounds, "; ")
}

// LimitNeed is what a step needs of one limit before an attempt of it begins, or a run before its
// first turn.
type LimitNeed struct {
	Name string `json:"name"`
	Key  string `json:"key,omitempty"`  // whose bounds; a tenant, say; empty for the only one
	Cost int64  `json:"cost,omitempty"` // how much of the rate; 0 means 1
}

// String names the limit and the key: limit "api", key "t1".
func (n LimitNeed) String() string {
	if n.Key == noKey {
		return fmt.Sprintf("limit %q", n.Name)
	}
	return fmt.Sprintf("limit %q, key %q", n.Name, n.Key)
}

// CheckLimitNeeds refuses what no claim can be made of, and fills the defaults in.
func CheckLimitNeeds(needs []LimitNeed) error {
	if len(needs) > LimitNeedsMax {
		return &LimitError{What: "limits of a step or run", Size: len(needs), Max: LimitNeedsMax}
	}
	for i := range needs {
		n := &needs[i]
		if err := CheckName("limit name", n.Name); err != nil {
			return err
		}
		if err := CheckKey("limit key", n.Key); err != nil {
			return err
		}
		if n.Cost < 0 || n.Cost > LimitCostMax {
			return fmt.Errorf("limit %q: the cost is %d: %w: it must be from 1 to %d, or 0 for 1", n.Name, n.Cost, ErrInvalid, int64(LimitCostMax))
		}
		if n.Cost == 0 {
			n.Cost = 1
		}
		for j := range i {
			if needs[j].Name == n.Name {
				return fmt.Errorf("limit %q is named twice: %w: name it once, with one key", n.Name, ErrInvalid)
			}
		}
	}
	return nil
}

// LimitClaim is what one step has of a limit, or waits for. A step that needs several limits has
// one of each, and holds all of them or none. That of a run has no Node and no Step.
type LimitClaim struct {
	Limit   string
	Key     string
	Node    NodeID // that executes the run; 0 for a claim of the run itself, whichever node it is on
	ID      int64  // the node's number of it, the same for all limits of a step or run
	Run     RunID
	Cmd     Cmd
	Step    string
	Cost    int64
	Since   time.Time // when the step fell due; its place in line is counted from then, whichever node it is on
	Granted time.Time // zero while it waits
	// Place is its place in the line of its key, from 1; 0 if it is held. It is counted up to
	// LimitPlaceMax.
	Place    int
	Priority int16
}

// LimitUse is what is held of one key of a limit, and waits.
type LimitUse struct {
	Name, Key     string
	Held, Waiting int
	// NextAt is when the rate lets the next claim of cost 1 begin; zero for now.
	NextAt time.Time
}

// LimitFilter selects what a page of limits tells. The zero value selects the limits alone.
type LimitFilter struct {
	Name   string // of one limit; empty for all
	Key    string // with a Name: of one key
	Run    RunID  // claims of one run, of whatever limit
	Uses   int    // at most so many uses, at most ListMax: those with the longest lines first
	Claims int    // at most so many claims, at most ListMax: those that are held first, then in the order of their lines
}

// LimitPage is what a store says of limits, as of one moment.
type LimitPage struct {
	Limits []Limit // by name and key
	Uses   []LimitUse
	Claims []LimitClaim
	Now    time.Time // the store's clock
}
