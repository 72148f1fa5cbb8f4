package memory

import (
	"maps"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// Snapshot is the whole database at one moment. It shares no memory with the store, so a check may
// keep it and compare it with a later one.
type Snapshot struct {
	Now   time.Time      // the store's clock
	Runs  []RunSnapshot  // by id
	Nodes []journal.Node // by id: all that have neither left nor been declared dead, also those whose lease ran out
}

// RunSnapshot is all that the database holds of one run. It shares no memory with the store. What a
// store shows by its interface is less: the present generation, the messages that wait, and answers
// to those who ask for one.
type RunSnapshot struct {
	Run      journal.Run       // with its task or its terminal event
	HoldsKey bool              // whether the key leads here (J8)
	Events   []journal.Event   // of the current generation
	Past     [][]journal.Event // of the generations before
	Messages []journal.Message // every message that ever came: number n stands at n-1
	Inbox    []journal.Message // those that are not consumed, in the order in which they will be (J5)
	// Consumed says that no message after it is consumed, and all others are but those of Inbox.
	Consumed journal.InboxSeq
	Answers  map[journal.InboxSeq]journal.Answer // replies to updates
}

// Snapshot returns a copy of the whole database, as of one moment.
func (s *Store) Snapshot() Snapshot {
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	snap := Snapshot{Now: s.db.now()}
	for _, r := range s.db.sorted {
		snap.Runs = append(snap.Runs, r.snapshot())
	}
	for _, id := range slices.Sorted(maps.Keys(s.db.nodes)) {
		if n := s.db.nodes[id]; !n.lost {
			row := n.Node
			row.Routes = slices.Clone(row.Routes)
			snap.Nodes = append(snap.Nodes, row)
		}
	}
	return snap
}

// Run returns a copy of one run, false if it does not exist. Its cost grows with the run's
// histories and messages.
func (s *Store) Run(run journal.RunID) (RunSnapshot, bool) {
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	r := s.db.runs[run]
	if r == nil {
		return RunSnapshot{}, false
	}
	return r.snapshot(), true
}

// snapshot copies the record with everything that it keeps.
func (r *record) snapshot() RunSnapshot {
	snap := RunSnapshot{
		Run: r.listed(), HoldsKey: r.holdsKey, Events: r.copyEvents(r.events), Inbox: r.copyInbox(r.unread(0, len(r.inbox))),
		Consumed: r.front.seen, Answers: map[journal.InboxSeq]journal.Answer{},
	}
	for _, events := range r.past {
		snap.Past = append(snap.Past, r.copyEvents(events))
	}
	for i := range r.inbox {
		n := r.inbox[i].Number
		snap.Messages = append(snap.Messages, r.message(n))
		if answer := r.answer(n); answer != nil {
			snap.Answers[n] = *answer
		}
	}
	return snap
}

// Due returns the tasks that a claim of a node would choose from, most urgent first, oldest first.
// A node that has left or was declared dead may claim nothing.
func (s *Store) Due(node journal.NodeID, routes []journal.Route) (tasks []journal.Task) {
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	s.db.caller = s
	if !s.db.alive(node) {
		return nil
	}
	var due []*record
	for _, l := range s.db.queuesOf(routes, s.db.now()) {
		for p := range l {
			due = append(due, l[p].due...)
		}
	}
	slices.SortFunc(due, byUrgency)
	for _, r := range due {
		tasks = append(tasks, *r.withTask().Task)
	}
	return tasks
}

// Assign makes a node the owner of one due task, as a claim does that chooses it. So a model can
// follow the choice of another store: among tasks that became due at the same time any is right.
func (s *Store) Assign(run journal.RunID, node journal.NodeID, chance uint32) driver.Claimed {
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	return s.db.acquire(s.db.runs[run], node, chance, s.db.now())
}
