package postgres

import (
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// marks are where searches of the queue begin: for each set of routes that this store serves, a
// time before which nothing is visible.
//
// Tasks are taken at the old end of an index that is sorted by the time at which they are visible,
// and each leaves an entry there that is dead. Normally the next search removes it. While a
// transaction somewhere holds the horizon of the database back, a dump for example, none can be
// removed, and every search would read all of them, hundreds of thousands after some minutes. A
// search that begins at the oldest entry that the last one has found reads only what died since.
//
// A task can appear before the mark: its time is that of the transaction that wrote it, at its
// beginning, and the transaction may be a caller's that lasts; a claim that took the task may be
// rolled back; the server's clock may be set back. So a search begins markMargin before the mark,
// which covers what the store's own transactions take, and the whole index is searched every now
// and then, which covers the rest. How often is a question of cost alone: every fullEvery as long
// as that is cheap, as often as polls are, and else such that a fiftieth of the time goes to it.
type marks struct {
	mu   sync.Mutex
	list map[string]*mark
}

// mark is the mark of one set of routes, guarded by marks.mu.
type mark struct {
	oldest time.Time     // by the server's clock; zero if no search was answered yet
	full   time.Time     // when the whole index was last searched
	cost   time.Duration // of that
}

// search is one search of the queue.
type search struct {
	marks *marks
	mark  *mark
	full  bool
	from  time.Time // zero for everything
	sent  time.Time
}

// begin begins a search. patience is how many times longer than others the caller waits before it
// searches everything: claims, which should be quick, leave that to looks if there are any.
func (m *marks) begin(key string, patience int) search {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.list[key]
	if k == nil {
		if m.list == nil {
			m.list = map[string]*mark{}
		}
		k = &mark{}
		m.list[key] = k
	}
	now := time.Now()
	w := search{marks: m, mark: k, sent: now, from: k.oldest.Add(-markMargin)}
	if k.oldest.IsZero() || now.Sub(k.full) >= time.Duration(patience)*max(fullEvery, fullShare*k.cost) {
		w.full, w.from, k.full = true, time.Time{}, now
	}
	return w
}

// end ends a search that was answered: nothing before oldest was there. Zero means that the search
// does not know.
func (w search) end(oldest time.Time) {
	w.marks.mu.Lock()
	defer w.marks.mu.Unlock()
	if w.full {
		w.mark.cost = time.Since(w.sent)
	}
	if !oldest.IsZero() {
		w.mark.oldest = oldest
	}
}

// claimed ends a search that has taken what it found. If that was less than it might, everything
// that was visible when it began is taken. If it was nothing, the claim may be one of a node that
// has left, which takes nothing, whatever there is.
func (w search) claimed(c *driver.Claim, limit int) {
	if len(c.Tasks) == 0 || len(c.Tasks) >= limit {
		w.end(time.Time{})
		return
	}
	w.end(c.Now.Add(-time.Since(w.sent)))
}

// parked takes the commits of this store into account that may have made a task visible since long
// ago: a timer that was due before the run was parked.
func (m *marks) parked(commits []driver.Commit) {
	var oldest time.Time
	for i := range commits {
		if at := commits[i].Next.At; !at.IsZero() && (oldest.IsZero() || at.Before(oldest)) {
			oldest = at
		}
	}
	if oldest.IsZero() {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, k := range m.list {
		if oldest.Before(k.oldest) {
			k.oldest = oldest
		}
	}
}

// after is the lower bound as a parameter.
func (w search) after() pgtype.Timestamptz {
	if w.from.IsZero() {
		return pgtype.Timestamptz{InfinityModifier: pgtype.NegativeInfinity, Valid: true}
	}
	return pgtype.Timestamptz{Time: w.from, Valid: true}
}

// markKey names a set of routes.
func markKey(routes []journal.Route) string {
	var b strings.Builder
	for _, r := range routes {
		b.WriteString(r.String())
		b.WriteByte('\n')
	}
	return b.String()
}
