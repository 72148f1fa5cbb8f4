package api

import (
	"bytes"
	"encoding/json"
	"slices"
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
	runs          map[string][]byte // records by their ids; nil before the first look
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
	w := allWatcher{c: c, s: s, filter: f, limit: limit, audited: -1}
	return c.follow(s, journal.RunID{}, w.look)
}

func (w *allWatcher) look() (ended bool, err error) {
	for _, part := range []func() error{w.lookRuns, w.lookNodes, w.lookPauses, w.lookAudit} {
		if err := part(); err != nil {
			return false, err
		}
	}
	return false, nil
}

func (w *allWatcher) lookRuns() error {
	page, err := w.c.page(w.filter, "", w.limit)
	if err != nil {
		return err
	}
	changes := record.Changes{Runs: []record.Run{}, Gone: []string{}}
	now := map[string][]byte{}
	for i := range page.Runs {
		r := &page.Runs[i]
		text, err := json.Marshal(r)
		if err != nil {
			return err
		}
		if now[r.ID] = text; !bytes.Equal(text, w.runs[r.ID]) {
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
func (w *allWatcher) lookNodes() error {
	if !w.c.allows("node list", nil) {
		return nil
	}
	nodes, err := w.c.h.journal.Store().Nodes(w.c.ctx)
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

func (w *allWatcher) lookPauses() error {
	if !w.c.allows("queue list", nil) {
		return nil
	}
	list, err := w.c.h.client.Pauses(w.c.ctx)
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
func (w *allWatcher) lookAudit() error {
	if !w.c.allows("audit", nil) {
		return nil
	}
	entries, _, err := w.c.audit(journal.AuditFilter{}, pageDefault)
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
