package state

import (
	"context"
	"fmt"
	"slices"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// inboxPiece is the least that a store tells of a long inbox in one answer; shorter ones are told
// whole.
const inboxPiece = 100

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
	requests := make([]driver.LoadRequest, len(runs))
	for i := range runs {
		requests[i].Run = runs[i].Run.ID
	}
	list, err := store.Load(ctx, requests)
	if err != nil {
		return err
	}
	for i := range list {
		if list[i].Err != nil {
			return fmt.Errorf("run %s is listed, but: %w", runs[i].Run.ID, list[i].Err)
		}
		runs[i].Events = list[i].Events
		if err := runs[i].readAnswers(ctx, store); err != nil {
			return err
		}
		if runs[i].Inbox, err = wholeInbox(ctx, store, runs[i].Run.ID, list[i].Inbox); err != nil {
			return err
		}
	}
	return nil
}

// wholeInbox asks for the rest of an inbox until there is no more: a long one comes in pieces.
func wholeInbox(ctx context.Context, store driver.Store, run journal.RunID, inbox []journal.Message) ([]journal.Message, error) {
	for n := len(inbox); n >= inboxPiece; {
		list, err := store.Load(ctx, []driver.LoadRequest{{Run: run, InboxOnly: true, AfterInbox: inbox[len(inbox)-1].Number}})
		if err != nil {
			return nil, err
		}
		n = len(list[0].Inbox)
		inbox = append(inbox, list[0].Inbox...)
	}
	return inbox, nil
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
