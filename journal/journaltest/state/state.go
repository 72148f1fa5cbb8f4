package state

import (
	"context"
	"fmt"
	"slices"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// State is everything that a store shows of itself at one moment, in a form that can be compared.
type State struct {
	Runs  []Run          // by id
	Nodes []journal.Node // those whose lease is valid, by id
}

// Run is one run with its task or terminal event, the whole history of its generation, the messages
// that wait for it, and its replies to those updates that the history names.
type Run struct {
	Run     journal.Run
	Events  []journal.Event
	Inbox   []journal.Message
	Answers map[journal.InboxSeq]journal.Answer
}

// Of reads the state of any store through its interface. It is of one moment only while nobody
// writes.
func Of(ctx context.Context, store driver.Store) (State, error) {
	var s State
	f := journal.ListFilter{Limit: journal.ListMax}
	for {
		page, err := store.List(ctx, f)
		if err != nil {
			return State{}, err
		}
		for i := range page.Runs {
			s.Runs = append(s.Runs, Run{Run: page.Runs[i]})
		}
		if f.Cursor = page.Next; f.Cursor == "" {
			break
		}
	}
	slices.Reverse(s.Runs)
	for part := range slices.Chunk(s.Runs, journal.BatchMax) {
		if err := fillState(ctx, store, part); err != nil {
			return State{}, err
		}
	}
	var err error
	s.Nodes, err = store.Nodes(ctx)
	return s, err
}

// fillState loads what listings leave out: events, messages and answers.
func fillState(ctx context.Context, store driver.Store, runs []Run) error {
	for i := range runs {
		h, err := Whole(ctx, store, runs[i].Run.ID)
		if err != nil {
			return err
		}
		if h.Err != nil {
			return fmt.Errorf("run %s is listed, but: %w", runs[i].Run.ID, h.Err)
		}
		runs[i].Events, runs[i].Inbox = h.Events, h.Inbox
		if err := runs[i].readAnswers(ctx, store); err != nil {
			return err
		}
	}
	return nil
}

// updatesOf returns the numbers of the updates that events name.
func updatesOf(events []journal.Event) (list []journal.InboxSeq) {
	for i := range events {
		if events[i].Kind == journal.UpdateReceived {
			list = append(list, events[i].Inbox)
		}
	}
	return list
}

func (s *Run) answer(n journal.InboxSeq, a *journal.Answer) {
	if a == nil {
		return
	}
	if s.Answers == nil {
		s.Answers = map[journal.InboxSeq]journal.Answer{}
	}
	s.Answers[n] = *a
}

func (s *Run) readAnswers(ctx context.Context, store driver.Store) error {
	var requests []driver.LoadRequest
	for _, n := range updatesOf(s.Events) {
		requests = append(requests, driver.LoadRequest{Run: s.Run.ID, Answer: n})
	}
	for part := range slices.Chunk(requests, journal.BatchMax) {
		list, err := store.Load(ctx, part)
		if err != nil {
			return err
		}
		for i := range list {
			s.answer(part[i].Answer, list[i].Answer)
		}
	}
	return nil
}
