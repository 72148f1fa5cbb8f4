package worker

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

var errBroken = errors.New("relation does not exist")

// logged calls fn in a bubble and returns what it has logged.
func logged(t *testing.T, fn func(t *testing.T, log *slog.Logger)) string {
	t.Helper()
	var text bytes.Buffer
	synctest.Test(t, func(t *testing.T) { fn(t, slog.New(slog.NewTextHandler(&text, nil))) })
	return text.String()
}

func wantLine(t *testing.T, text, line, with string) {
	t.Helper()
	for l := range strings.Lines(text) {
		if strings.Contains(l, line) && strings.Contains(l, with) {
			return
		}
	}
	t.Errorf("there is no line %q with %q in %q", line, with, text)
}

// A claim that the store refuses is logged with its cause; one without an answer is not, since the
// journal says that the store is away.
func TestRefusedClaimIsLogged(t *testing.T) {
	for _, cause := range []error{errBroken, journal.ErrUnavailable} {
		text := logged(t, func(t *testing.T, log *slog.Logger) {
			w, _ := testWorker()
			w.claimer.j = driver.New(&claimStore{claim: func(driver.ClaimRequest) (driver.Claim, error) { return driver.Claim{}, cause }},
				&journal.Options{Logger: slog.New(slog.DiscardHandler)})
			w.claimer.log = log
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			w.claimer.loop(ctx)
			w.kill()
			w.sys.Kill(nil)
			time.Sleep(time.Minute)
		})
		if errors.Is(cause, journal.ErrUnavailable) {
			if text != "" {
				t.Errorf("no answer: %s", text)
			}
			continue
		}
		wantLine(t, text, "claim failed; it will be tried again", errBroken.Error())
	}
}

// answeringMember reaps as it is told.
type answeringMember struct {
	driver.Membership
	reaped driver.Reaped
	err    error
}

func (m answeringMember) Reap(context.Context, []journal.NodeID) (driver.Reaped, error) {
	return m.reaped, m.err
}

// Nodes that have died, and runs that kill nodes, are logged; so is a store that refuses to say.
func TestReapingIsLogged(t *testing.T) {
	for _, c := range []struct {
		m          answeringMember
		line, with string
	}{
		{answeringMember{reaped: driver.Reaped{Nodes: []journal.NodeID{3}, Tasks: 12}}, "freed the runs of dead nodes", "runs=12"},
		{answeringMember{reaped: driver.Reaped{Quarantined: 1}}, "quarantined runs whose owners died again and again without a commit", "runs=1"},
		{answeringMember{err: errBroken}, "freeing the runs of dead nodes failed; it will be tried again", errBroken.Error()},
		{answeringMember{err: journal.ErrUnavailable}, "", ""},
	} {
		text := logged(t, func(t *testing.T, log *slog.Logger) {
			r := &reaper{member: c.m, node: 7, lease: leaseOfTests, log: log, loops: &sync.WaitGroup{}}
			r.reap(t.Context(), nil)
		})
		if c.line == "" && text != "" || strings.Count(text, "\n") > 1 {
			t.Errorf("%+v: %s", c.m, text)
		}
		wantLine(t, text+"\n", c.line, c.with)
	}
}

// leavingMember cannot hand its runs back.
type leavingMember struct {
	fakeMember
	err error
}

func (m leavingMember) Leave(context.Context) error { return m.err }

// A node says that it drains, and whether it has handed its runs back.
func TestDrainIsLogged(t *testing.T) {
	for line, cause := range map[string]error{
		"node left\" reprise.node=7": nil,
		"node left without handing back all runs; other nodes take them when its lease ends": errBroken,
	} {
		text := logged(t, func(t *testing.T, log *slog.Logger) {
			w, m := testWorker()
			w.cfg.Log, w.cfg.Member = log, leavingMember{m, cause}
			if err := w.Drain(); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Minute)
		})
		wantLine(t, text, "node drains", "")
		with := ""
		if cause != nil {
			with = cause.Error()
		}
		wantLine(t, text, line, with)
	}
}

// deafStore has hints that end with an error.
type deafStore struct{ faultyStore }

func (*deafStore) Hints() driver.Hints { return deaf{} }

type deaf struct{ noHints }

func (deaf) Watch(context.Context, func(driver.Hint)) error { return errBroken }

// A node whose store gives no hints any more says so.
func TestLostHintsAreLogged(t *testing.T) {
	text := logged(t, func(t *testing.T, log *slog.Logger) {
		w, _ := testWorker()
		w.cfg.Log, w.cfg.Journal = log, driver.New(&deafStore{}, nil)
		w.watchLoop()
		w.kill()
		w.sys.Kill(nil)
		time.Sleep(time.Minute)
	})
	wantLine(t, text, "the store sends no more hints; this node only polls", errBroken.Error())
}
