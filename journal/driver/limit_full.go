package driver

import (
	"fmt"

	"github.com/reprise-run/reprise/journal"
)

// LimitRoom is what a store knows of a key of a limit at the moment at which a run comes that would
// wait there. A store reads it so that no other run comes to the key until this one is stored, or
// is not.
type LimitRoom struct {
	LimitKey
	Limit *journal.Limit // whose bounds hold for the key; nil for none
	Total int            // of all keys; 0 for any number
	Ready int64          // that of the line
	// Held is what is held of the key, and HeldAll of all keys where there is a Total. What has
	// ended is not held any more, whether or not a round has taken it in.
	Held, HeldAll int
	// Waiting are the runs that wait for the key, whether or not a round has seen them and whenever
	// they are to start. A store need not count further than [LimitRoom.Enough].
	Waiting int
	Now     int64 // the store's clock, in microseconds
}

// Enough is a number of waiting runs that is too many whatever is free.
func (r *LimitRoom) Enough() int {
	if r.Limit == nil {
		return 0
	}
	return r.Limit.MaxBacklog + max(r.Limit.Concurrency, r.Total, int(r.Limit.Rate.Burst)) + 1
}

// free is how many more may begin now that cost as much. A place that is free counts for each key
// that comes.
func (r *LimitRoom) free(cost int64) int {
	free := r.Enough()
	if n := r.Limit.Concurrency; n > 0 {
		free = min(free, n-r.Held)
	}
	if r.Total > 0 {
		free = min(free, r.Total-r.HeldAll)
	}
	if rate := r.Limit.Rate; !rate.IsZero() {
		l := tableLine{LimitLine: LimitLine{Ready: max(r.Ready, r.Now)}, limit: r.Limit}
		if first := l.due(cost); first > r.Now {
			free = 0
		} else { // each other one is due a span behind the one before
			free = min(free, int((r.Now-first)/max(span(rate, cost), 1))+1)
		}
	}
	return max(free, 0)
}

// full tells whether as many runs wait as may, beyond those for which there are places.
func (r *LimitRoom) full(cost int64) bool {
	return r.Limit != nil && r.Limit.MaxBacklog > 0 && r.Waiting >= r.Limit.MaxBacklog+r.free(cost)
}

// Arrival is what becomes of a run that comes to wait for limits.
type Arrival struct {
	Err    error     // it is refused, and nothing of it is stored
	Newest *LimitEnd // it is cancelled as soon as it is stored
	Oldest []LimitKey
}

// Arrive decides on a run that comes, by the rooms of what it needs, in this order. A limit that
// rejects comes first, then one that cancels the newest: nobody makes room for a run that does not
// wait. The oldest of each of the other limits that are full goes. One that waits beyond the
// backlog finds nothing full.
func Arrive(st *journal.Start, rooms []*LimitRoom) (a Arrival) {
	if st.BeyondBacklog {
		return a
	}
	for i, n := range st.Limits {
		r := rooms[i]
		if r == nil || !r.full(n.Cost) {
			continue
		}
		switch r.Limit.OnFull {
		case journal.OnFullReject:
			return Arrival{Err: &journal.LimitFullError{Limit: n.Name, Key: n.Key, MaxBacklog: r.Limit.MaxBacklog}}
		case journal.OnFullCancelNewest:
			if a.Newest == nil {
				a.Newest = &LimitEnd{LimitKey: r.LimitKey, MaxBacklog: r.Limit.MaxBacklog, Newest: true}
			}
		case journal.OnFullCancelOldest:
			a.Oldest = append(a.Oldest, r.LimitKey)
		}
	}
	if a.Newest != nil {
		a.Oldest = nil
	}
	return a
}

// Came counts a run that comes and is not refused, for those behind it in a batch.
func (a *Arrival) Came(rooms []*LimitRoom) {
	for _, r := range rooms {
		if r != nil && a.Err == nil && a.Newest == nil {
			r.Waiting++
		}
	}
	for _, k := range a.Oldest {
		for _, r := range rooms {
			if r != nil && r.LimitKey == k {
				r.Waiting--
			}
		}
	}
}

// LimitEnd is why a run is cancelled that waits for a limit.
type LimitEnd struct {
	LimitKey
	MaxBacklog int
	Newest     bool
}

// Reason is what the history and the audit say.
func (e *LimitEnd) Reason() string {
	need := journal.LimitNeed{Name: e.Name, Key: e.Key}
	if e.Newest {
		return fmt.Sprintf("%s is full: its MaxBacklog of %d is used up, and it cancels the newest", need, e.MaxBacklog)
	}
	return fmt.Sprintf("%s is full: its MaxBacklog of %d is used up, and it cancels the oldest for a new run", need, e.MaxBacklog)
}

// Payload is the outcome of the run.
func (e *LimitEnd) Payload() journal.Payload { return journal.CancelledPayload(e.Reason()) }

// Action is what the audit says (J12).
func (e *LimitEnd) Action(run journal.RunID) AdminAction {
	return AdminAction{Run: run, Kind: adminCancel, Reason: e.Reason(), Actor: journal.ActorRuntime}
}
