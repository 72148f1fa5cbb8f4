package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"reflect"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/ui/record"
)

var (
	generationParam = number("generation", "of this generation; they are numbered from 1")
	afterSeqParam   = number("after", "only events behind the one with this number")
	limitSeqParam   = number("limit", "how many events there are at most: 1 to 10000; default all")
	compactParam    = flag("compact", "without payloads and commands")
	// A list shows the beginning of a payload, and a payload may have megabytes.
	payloadParam = number("payload_bytes", "leave out payloads that are stored in more bytes; left_out says which ones, and after and limit get them")
)

func timelineOperations() []*operation {
	return []*operation{
		{method: http.MethodGet, path: "/runs/{run}/history", verbs: []string{"run history"}, summary: "List the events of a run's present generation, or of an earlier one.",
			params: []param{generationParam, afterSeqParam, limitSeqParam, compactParam, payloadParam}, answer: reflect.TypeFor[[]record.Event](), do: historyOfRun},
		{method: http.MethodGet, path: "/runs/{run}/timeline", verbs: []string{"run history"}, summary: "Show what a run has done and waited for over time: steps, timers, children, messages, each with its begin and its end.",
			params: []param{generationParam, number("after", "only spans behind so many: the next of the page before"), number("limit", "how many spans there are at most: 1 to 50000; default 10000")},
			answer: reflect.TypeFor[record.Timeline](), do: timelineOfRun},
		{method: http.MethodGet, path: "/runs/{run}/download", verbs: []string{"run history"}, summary: "Download the history of a run as lines of JSON, an event each.",
			params: []param{generationParam, compactParam}, answer: reflect.TypeFor[record.Event](), lines: downloadRun},
	}
}

// eachEvent calls fn with the pages of a history, each read when fn has dealt with the one before:
// memory holds one page. The generation is the present one for 0; if the run leaves that meanwhile,
// the pages go on with it. It returns the run as the last page had it.
func eachEvent(c *call, q driver.LoadRequest, fn func([]journal.Event) (more bool, err error)) (*journal.Run, journal.Generation, error) {
	asked := q.Generation
	for q.EventsOnly = true; ; {
		got, err := c.h.journal.Load(c.ctx, []driver.LoadRequest{q})
		if err != nil {
			return nil, 0, err
		}
		h := &got[0]
		if unreadable, ok := errors.AsType[*journal.UnreadableError](h.Err); h.Err != nil && (!ok || unreadable.Seq != 0) {
			return nil, 0, fmt.Errorf("run %s: %w", q.Run, h.Err)
		}
		if q.Generation == 0 {
			q.Generation = h.Run.Generation
		}
		// Generations before a fork's first one are of the run that was forked.
		if asked > h.Run.Generation || asked > 0 && asked < h.Run.Generation && q.AfterSeq == 0 && len(h.Events) == 0 {
			return nil, 0, refuse(notFound, "run %s has no generation %d: the present one is %d", q.Run, asked, h.Run.Generation)
		}
		more, err := fn(h.Events)
		if err != nil || !more || !h.More || len(h.Events) == 0 {
			return &h.Run, q.Generation, err
		}
		q.AfterSeq = h.Events[len(h.Events)-1].Seq
	}
}

// historyRequest finds the run of a call about its history.
func historyRequest(c *call) (q driver.LoadRequest, err error) {
	q.Generation = journal.Generation(c.number(generationParam.name, 0, 1, math.MaxInt32))
	if c.wrong != nil {
		return q, c.wrong
	}
	q.Run, err = c.run()
	return q, err
}

// eventOf is the record of an event, with no more than what happened if the answer is compact, and
// without a payload of more than so many bytes. Of one that is hidden it does not tell that.
func eventOf(c *call, run journal.RunID, e *journal.Event, bytesMax int) record.Event {
	if !c.flag(compactParam.name) {
		rec := c.maker.Brief(run, e, bytesMax)
		rec.LeftOut = rec.LeftOut && !(c.h.o.HideInputs && inputs[record.SourceOf(e.Kind)])
		return rec
	}
	lean := *e
	lean.Payload, lean.Issued = journal.Payload{}, nil
	return c.maker.Event(run, &lean)
}

func historyOfRun(c *call) (any, error) {
	after := c.number(afterSeqParam.name, 0, 0, math.MaxInt32)
	limit := int(c.number(limitSeqParam.name, math.MaxInt, 1, historyMax))
	bytesMax := int(c.number(payloadParam.name, math.MaxInt32, 0, math.MaxInt32))
	q, err := historyRequest(c)
	if err != nil {
		return nil, err
	}
	q.AfterSeq = journal.Seq(after)
	q.Limit = min(limit, driver.LoadEventsMax)
	list := []record.Event{}
	_, _, err = eachEvent(c, q, func(events []journal.Event) (bool, error) {
		for i := range events[:min(len(events), limit-len(list))] {
			list = append(list, eventOf(c, q.Run, &events[i], bytesMax))
		}
		return len(list) < limit, nil
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// downloadRun writes events while it reads them.
func downloadRun(c *call, write func(v any) error) error {
	q, err := historyRequest(c)
	if err != nil {
		return err
	}
	_, _, err = eachEvent(c, q, func(events []journal.Event) (bool, error) {
		for i := range events {
			if err := write(eventOf(c, q.Run, &events[i], math.MaxInt)); err != nil {
				return false, err
			}
		}
		return true, nil
	})
	return err
}

func timelineOfRun(c *call) (any, error) {
	after, most := int(c.number("after", 0, 0, math.MaxInt32)), int(c.number("limit", spansDefault, 1, spansMax))
	q, err := historyRequest(c)
	if err != nil {
		return nil, err
	}
	l := record.NewTimeliner(after, most)
	_, generation, err := eachEvent(c, q, func(events []journal.Event) (bool, error) {
		for i := range events {
			l.Add(&events[i])
		}
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	row, err := c.mustRead(q.Run)
	if err != nil {
		return nil, err
	}
	rec, err := c.record(row)
	if err != nil {
		return nil, err
	}
	t := l.Answer(rec, generation, row.Task)
	return t, childrenOf(c, row.ID, t)
}

// childrenOf adds the ids of children that the actor may see, newest first, and no more of them
// than one call looks at.
func childrenOf(c *call, run journal.RunID, t *record.Timeline) error {
	spans := map[journal.Cmd]*record.Span{}
	for i := range t.Spans {
		if s := &t.Spans[i]; s.Kind == "child" {
			spans[journal.Cmd(s.Cmd)] = s
		}
	}
	f := journal.ListFilter{Parent: run, Limit: journal.ListMax}
	for looked := 0; len(spans) > 0 && looked < c.scans; looked += journal.ListMax {
		page, err := c.h.client.List(c.ctx, f)
		if err != nil {
			return err
		}
		for i := range page.Runs {
			child := &page.Runs[i]
			s := spans[child.Parent.Cmd]
			if s == nil || int32(child.Parent.Generation) != t.Generation {
				continue
			}
			if c.sees(child) {
				s.Run = child.ID.String()
			}
			delete(spans, child.Parent.Cmd)
		}
		if f.Cursor = page.Next; f.Cursor == "" {
			break
		}
	}
	return nil
}

// serveLines answers with a line of JSON for each value, as they come. What goes wrong behind the
// first line breaks the connection, so that nobody takes a part for the whole.
func (h *handler) serveLines(w http.ResponseWriter, c *call) {
	began, rc := false, http.NewResponseController(w)
	err := c.op.lines(c, func(v any) error {
		text, err := json.Marshal(v)
		if err != nil {
			return err
		}
		if !began {
			began = true
			w.Header().Set("Content-Type", linesType)
			w.WriteHeader(http.StatusOK)
		}
		_ = rc.SetWriteDeadline(time.Now().Add(writeMax)) // a reader that takes nothing ends it
		_, err = w.Write(append(text, '\n'))
		return err
	})
	switch {
	case err != nil && began:
		panic(http.ErrAbortHandler)
	case err != nil:
		fail(w, c.discreet(err))
	case !began:
		w.Header().Set("Content-Type", linesType)
		w.WriteHeader(http.StatusOK)
	}
}
