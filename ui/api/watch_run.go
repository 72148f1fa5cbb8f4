package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/ui/record"
)

// runWatcher is a stream of one run. It has sent the events up to one.
type runWatcher struct {
	c          *call
	s          *stream
	run        journal.RunID
	generation journal.Generation // 0 before the first look: the stream begins with the present one
	seq        journal.Seq
	sent       []byte // the record that was sent last
}

func watchRun(c *call, s *stream) error {
	run, err := c.run()
	if err != nil {
		return err
	}
	w := runWatcher{c: c, s: s, run: run}
	after := c.text("after")
	if last := c.r.Header.Get("Last-Event-ID"); last != "" {
		after = last // of a reader that connects again
	}
	if after != "" {
		if err := w.startBehind(after); err != nil {
			return err
		}
	}
	return c.follow(s, run, "", w.look)
}

// startBehind reads the id of the event that the reader has got last.
func (w *runWatcher) startBehind(id string) error {
	before, behind, _ := strings.Cut(id, ".")
	generation, err := strconv.ParseInt(before, 10, 32)
	seq, seqErr := strconv.ParseInt(behind, 10, 32)
	if err != nil || seqErr != nil || generation < 1 || seq < 0 {
		return refuse(invalidRequest, "%q is not the id of an event: it is GENERATION.SEQ", id)
	}
	w.generation, w.seq = journal.Generation(generation), journal.Seq(seq)
	return nil
}

// look sends what is new. Generations are read one after the other, each to its end, so nothing is
// left out when the run continues as new or goes back.
func (w *runWatcher) look(*reader) (ended bool, err error) {
	for {
		got, err := w.c.h.journal.Load(w.c.ctx, []driver.LoadRequest{{Run: w.run, Generation: w.generation, AfterSeq: w.seq, EventsOnly: true}})
		if err != nil {
			return false, err
		}
		h := &got[0]
		if errors.Is(h.Err, journal.ErrNotFound) || h.Err == nil && !w.mayGoOn(&h.Run) {
			return true, w.gone()
		}
		if h.Err != nil {
			return false, h.Err
		}
		if w.generation == 0 {
			w.generation = h.Run.Generation
		}
		for i := range h.Events {
			e := w.c.maker.Event(w.run, &h.Events[i])
			if err := w.s.send("event", fmt.Sprintf("%d.%d", w.generation, e.Seq), &e); err != nil {
				return false, err
			}
			w.seq = h.Events[i].Seq
		}
		switch {
		case h.More:
		case h.Run.Generation > w.generation:
			w.generation, w.seq = w.generation+1, 0
		default:
			return w.state(&h.Run)
		}
	}
}

// mayGoOn asks again whether the actor may see what it watches: labels, by which that may have been
// decided, change.
func (w *runWatcher) mayGoOn(run *journal.Run) bool {
	return w.c.sees(run) && w.c.allows(w.c.op.verb(), run)
}

// gone is the end of a stream whose run was deleted, or may not be seen any more.
func (w *runWatcher) gone() error {
	if !w.s.began {
		return noRun(w.c.r.PathValue("run"))
	}
	return w.s.send("gone", "", &record.Sent{Run: w.run.String(), Done: "deleted"})
}

// state sends the record of the run if it has changed.
func (w *runWatcher) state(run *journal.Run) (ended bool, err error) {
	closed := run.Status.Closed()
	if closed { // a load has no terminal event
		row, err := w.c.read(w.run)
		if err != nil {
			return false, err
		}
		if row == nil {
			return true, w.gone()
		}
		run = row
	}
	rec, err := w.c.record(run)
	if err != nil {
		return false, err
	}
	text, err := json.Marshal(&rec)
	if err != nil {
		return false, err
	}
	if !bytes.Equal(text, w.sent) {
		w.sent = text
		err = w.s.send("run", "", json.RawMessage(text))
	}
	if closed && err == nil {
		err = w.s.send("end", "", json.RawMessage(text))
	}
	return closed, err
}
