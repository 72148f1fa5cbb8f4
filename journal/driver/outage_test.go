package driver_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// awayStore refuses verbs that are away.
type awayStore struct {
	driver.Store
	away map[string]error
}

func (s *awayStore) List(context.Context, journal.ListFilter) (journal.RunPage, error) {
	return journal.RunPage{}, s.away["list"]
}

func (s *awayStore) Claim(context.Context, driver.ClaimRequest) (driver.Claim, error) {
	return driver.Claim{}, s.away["claim"]
}

func (s *awayStore) Hints() driver.Hints { return nil }

// outages is a journal on such a store, and what it logs.
type outages struct {
	t     *testing.T
	store *awayStore
	j     *driver.Journal
	log   bytes.Buffer
}

func inOutages(t *testing.T, test func(o *outages)) {
	synctest.Test(t, func(t *testing.T) {
		o := &outages{t: t, store: &awayStore{away: map[string]error{}}}
		o.j = driver.New(o.store, &journal.Options{Logger: slog.New(slog.NewTextHandler(&o.log, nil))})
		test(o)
	})
}

// calls makes calls of some verbs, twice a second.
func (o *outages) calls(d time.Duration, verbs ...string) {
	for range d / (500 * time.Millisecond) {
		for _, verb := range verbs {
			if verb == "list" {
				_, _ = o.j.List(o.t.Context(), journal.ListFilter{})
			} else {
				_, _ = o.j.Claim(o.t.Context(), driver.ClaimRequest{})
			}
		}
		time.Sleep(500 * time.Millisecond)
	}
}

// said checks how many lines say that the store is away, and that it is back.
func (o *outages) said(what string, away, back int) {
	o.t.Helper()
	text := o.log.String()
	if a, b := strings.Count(text, "the store is unavailable"), strings.Count(text, "the store answers again"); a != away || b != back {
		o.t.Errorf("%s: %d and %d lines, want %d and %d:\n%s", what, a, b, away, back, text)
	}
}

func refused(cause string) error { return fmt.Errorf("%w: %s", journal.ErrUnavailable, cause) }

func TestAnOutageIsReportedOnce(t *testing.T) {
	inOutages(t, func(o *outages) {
		o.store.away["list"] = refused("password authentication failed")
		o.calls(time.Second, "list")
		o.said("a short one", 0, 0)
		o.calls(time.Minute, "list")
		o.said("a long one", 1, 0)
		if text := o.log.String(); !strings.Contains(text, "password authentication failed") || !strings.Contains(text, "verb=list") {
			t.Errorf("the line does not name the cause and the verb: %s", text)
		}
		delete(o.store.away, "list")
		o.calls(time.Second, "list")
		o.said("it is over", 1, 1)
		o.store.away["list"] = refused("again")
		o.calls(2*time.Second, "list")
		o.said("the next one", 2, 1)
	})
}

// A call that fails for another reason, and one whose caller gave up, are no outage; neither is a
// failure now and then.
func TestOtherFailuresAreNoOutage(t *testing.T) {
	inOutages(t, func(o *outages) {
		for _, err := range []error{journal.ErrInvalid, context.DeadlineExceeded} {
			o.store.away["list"] = err
			o.calls(5*time.Second, "list")
		}
		for range 10 {
			o.store.away["list"] = refused("now and then")
			o.calls(500*time.Millisecond, "list")
			delete(o.store.away, "list")
			o.calls(500*time.Millisecond, "list")
		}
		for range 3 { // of a verb that is called now and then
			o.store.away["claim"] = refused("now and then")
			o.calls(500*time.Millisecond, "claim")
			time.Sleep(time.Minute)
		}
		o.said("no outage", 0, 0)
	})
}

// A network that swallows everything is told of too, although each call fails after the time for a
// connection and that for a silent call, by a client alone and beside verbs that are answered.
func TestAnOutageOfSlowFailures(t *testing.T) {
	for _, d := range []time.Duration{10500 * time.Millisecond, 41 * time.Second} {
		for _, verbs := range [][]string{nil, {"list"}} {
			inOutages(t, func(o *outages) {
				o.store.away["claim"] = refused("i/o timeout")
				for range 5 {
					o.calls(d, verbs...)
					o.calls(500*time.Millisecond, "claim")
				}
				o.said(fmt.Sprintf("failures %s apart, beside %v", d, verbs), 1, 0)
				delete(o.store.away, "claim")
				o.calls(time.Second, "claim")
				o.said("it is over", 1, 1)
			})
		}
	}
}

// A standby answers what only reads.
func TestAnOutageOfSomeVerbs(t *testing.T) {
	inOutages(t, func(o *outages) {
		o.store.away["claim"] = refused("read-only")
		o.calls(30*time.Second, "list", "claim")
		o.said("a standby", 1, 0)
		if err := o.j.Explain("list", context.Canceled); errors.Is(err, journal.ErrUnavailable) {
			t.Errorf("a verb that is answered is explained by %v", err)
		}
		if err := o.j.Explain("claim", context.Canceled); !errors.Is(err, journal.ErrUnavailable) || !errors.Is(err, context.Canceled) {
			t.Errorf("a verb that is away is explained by %v", err)
		}
		o.calls(time.Minute, "list") // whoever claimed has gone
		o.said("nobody asks any more", 1, 1)
	})
}
