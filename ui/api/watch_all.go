package api

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/ui/record"
)

// allWatcher is a stream of the first page of a list, and of what else there is to see. It has sent
// all that it keeps.
type allWatcher struct {
	c             *call
	s             *stream
	filter        journal.ListFilter
	limit         int
	name          string            // of the question that the list answers
	runs          map[string][]byte // records by their ids; nil before the first look
	listed        *listing          // what was looked at last
	nodes, pauses []byte
	audited       int64 // number of the newest entry; -1 before the first look
}

func watchAll(c *call, s *stream) error {
	if err := c.may(c.op.verb(), nil); err != nil {
		return err
	}
	limit := int(c.number("limit", pageDefault, 1, watchedMax))
	f, err := c.filter()
	if err != nil {
		return err
	}
	c.scans = scanPage * 5 // of a page that is read again and again
	w := allWatcher{c: c, s: s, filter: f, limit: limit, audited: -1, name: "runs " + whose(c) + strconv.Quote(c.r.URL.RawQuery)}
	return c.follow(s, journal.RunID{}, w.name, w.look)
}

// whose begins the names of questions whose answers depend on who asks.
func whose(c *call) string {
	if c.h.o.Allow == nil && c.h.o.Redact == nil {
		return ""
	}
	return strconv.Quote(c.actor) + " "
}

// look begins with the audit when it looks for the first time, before it sends anything: who has an
// event of this stream, or hears that it is open, misses no entry of what is done from then on.
func (w *allWatcher) look(r *reader) (ended bool, err error) {
	if w.audited < 0 {
		if err := w.lookAudit(r); err != nil {
			return false, err
		}
	}
	for _, part := range []func(*reader) error{w.lookRuns, w.lookNodes, w.lookPauses, w.lookAudit} {
		if err := part(r); err != nil {
			return false, err
		}
	}
	return false, nil
}

// ask asks for a stream, or takes what another one has been told. create gets a call that does not
// end with this stream.
func ask[T any](w *allWatcher, r *reader, about subject, name string, create func(c *call) (T, error)) (T, error) {
	_, fresh := w.c.h.feed.pace()
	if about != aboutRuns {
		fresh = fleetShare * w.c.h.o.Poll
	}
	v, err := w.c.h.feed.ask(w.c.ctx, r, about, name, fresh, w.c.h.o.Timeout, func(ctx context.Context) (any, error) {
		c := *w.c
		c.ctx = ctx
		return create(&c)
	})
	got, _ := v.(T)
	return got, err
}

// listing is a page of runs with their texts, by which readers see what has changed.
type listing struct {
	runs []record.Run
	text map[string][]byte
}

func (w *allWatcher) list(c *call) (*listing, error) {
	page, err := c.page(w.filter, "", w.limit)
	if err != nil {
		return nil, err
	}
	l := &listing{runs: page.Runs, text: map[string][]byte{}}
	for i := range l.runs {
		if l.text[l.runs[i].ID], err = json.Marshal(&l.runs[i]); err != nil {
			return nil, err
		}
	}
	return l, nil
}

func (w *allWatcher) lookRuns(r *reader) error {
	l, err := ask(w, r, aboutRuns, w.name, w.list)
	if err != nil || l == w.listed {
		return err
	}
	w.listed = l
	changes := record.Changes{Runs: []record.Run{}, Gone: []string{}}
	now := l.text
	for i := range l.runs {
		if r := &l.runs[i]; !bytes.Equal(now[r.ID], w.runs[r.ID]) {
			changes.Runs = append(changes.Runs, *r)
		}
	}
	for id := range w.runs {
		if now[id] == nil {
			changes.Gone = append(changes.Gone, id)
		}
	}
	first := w.runs == nil
	w.runs = now
	if !first && len(changes.Runs)+len(changes.Gone) == 0 {
		return nil
	}
	slices.Sort(changes.Gone)
	return w.s.send("runs", "", &changes)
}

// lookNodes leaves out when leases end: that changes all the time, and tells nothing.
func (w *allWatcher) lookNodes(r *reader) error {
	if !w.c.allows("node list", nil) {
		return nil
	}
	nodes, err := ask(w, r, aboutFleet, "nodes", func(c *call) ([]journal.Node, error) { return c.h.journal.Store().Nodes(c.ctx) })
	if err != nil {
		return err
	}
	list := record.NodesOf(nodes)
	steady := slices.Clone(list)
	for i := range steady {
		steady[i].ExpiresAt = time.Time{}
	}
	return w.changed("nodes", &w.nodes, steady, list)
}

func (w *allWatcher) lookPauses(r *reader) error {
	if !w.c.allows("queue list", nil) {
		return nil
	}
	list, err := ask(w, r, aboutFleet, "pauses", func(c *call) ([]journal.Pause, error) { return c.h.client.Pauses(c.ctx) })
	if err != nil {
		return err
	}
	records := record.PausesOf(list)
	return w.changed("pauses", &w.pauses, records, records)
}

// changed sends a list if what tells that it has changed is not what it was.
func (w *allWatcher) changed(name string, sent *[]byte, tells, list any) error {
	text, err := json.Marshal(tells)
	if err != nil || bytes.Equal(text, *sent) {
		return err
	}
	*sent = text
	return w.s.send(name, "", list)
}

// lookAudit sends entries that are new, oldest first, and of more than a page the newest ones.
func (w *allWatcher) lookAudit(r *reader) error {
	if !w.c.allows("audit", nil) {
		return nil
	}
	entries, err := ask(w, r, aboutAudit, "audit "+whose(w.c), func(c *call) ([]journal.AuditEntry, error) {
		list, _, err := c.audit(journal.AuditFilter{}, pageDefault)
		return list, err
	})
	if err != nil {
		return err
	}
	first := w.audited < 0
	before := max(w.audited, 0)
	w.audited = before
	list := []record.Audit{}
	for i := len(entries) - 1; i >= 0; i-- {
		if entries[i].Number > before {
			list = append(list, record.AuditOf(&entries[i]))
			w.audited = entries[i].Number
		}
	}
	if first || len(list) == 0 {
		return nil
	}
	return w.s.send("audit", "", list)
}
