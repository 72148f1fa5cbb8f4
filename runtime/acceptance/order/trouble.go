package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

// trouble is the world as it is between two outages: the network of the workers is slow or falls
// silent, the server refuses log-ins, somebody holds rows. Nothing dies of it, and nothing may be
// lost or done twice; the audit is the same as on a good day.
//
// One trouble comes at a time and ends before the next, so that a day that does not balance names
// what was going on. The workers reach the server through one link; the parent, which counts, does
// not.
type trouble struct {
	link  *pgtest.Link
	dsn   string // of the server itself
	kinds []string
	times int // of each kind
	rand  *rand.Rand
	out   io.Writer
}

// troubles are the kinds by name, each with what it is called. A kind lasts until its context ends.
var troubles = map[string]struct {
	says  string
	cause func(t *trouble, ctx context.Context) error
}{
	"slow":    {"the network is slow", (*trouble).slow},
	"silent":  {"connections fall silent, and new ones work", (*trouble).silent},
	"refused": {"connections break, and the server refuses to log in", (*trouble).refused},
	"held":    {"somebody holds the tasks of some runs", (*trouble).held},
}

const (
	troublePauseMin = 500 * time.Millisecond
	troublePauseMax = time.Second
	troubleMin      = time.Second
	troubleMax      = 3 * time.Second

	slowRate  = 64 << 10 // bytes a second and connection
	slowDelay = 20 * time.Millisecond
	heldRuns  = 20
)

// parseTroubles reads the names of kinds, separated by commas.
func parseTroubles(list string) ([]string, error) {
	if list == "" {
		return nil, nil
	}
	kinds := strings.Split(list, ",")
	for _, k := range kinds {
		if _, ok := troubles[k]; !ok {
			return nil, fmt.Errorf("-trouble %s: there is no trouble of that name", k)
		}
	}
	return kinds, nil
}

// troubleTime is how long so many troubles take at the most.
func troubleTime(n int) time.Duration { return time.Duration(n) * (troublePauseMax + troubleMax) }

// Run makes trouble until each kind has come often enough, in any order, or ctx ends.
func (t *trouble) Run(ctx context.Context) error {
	all := slices.Repeat(t.kinds, t.times)
	t.rand.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
	for _, name := range all {
		if !sleep(ctx, t.between(troublePauseMin, troublePauseMax)) {
			return nil
		}
		d := t.between(troubleMin, troubleMax)
		fmt.Fprintf(t.out, "        %s for %.1f s\n", troubles[name].says, d.Seconds())
		lasting, end := context.WithTimeout(ctx, d)
		err := troubles[name].cause(t, lasting)
		end()
		if err != nil && ctx.Err() == nil {
			return fmt.Errorf("trouble %s: %w", name, err)
		}
	}
	return nil
}

func (t *trouble) between(least, most time.Duration) time.Duration {
	return least + time.Duration(t.rand.Int64N(int64(most-least)))
}

// slow is a network between two regions, on a bad day.
func (t *trouble) slow(ctx context.Context) error {
	t.link.Throttle(slowRate)
	t.link.Delay(slowDelay)
	defer t.link.Throttle(0)
	defer t.link.Delay(0)
	<-ctx.Done()
	return nil
}

// silent makes the connections of now dumb for good: a firewall has forgotten them.
func (t *trouble) silent(ctx context.Context) error {
	t.link.Freeze()
	<-ctx.Done()
	return nil
}

// refused is a password that is being changed, or a server that is full.
func (t *trouble) refused(ctx context.Context) error {
	codes := []string{"28000", "28P01", "53300"}
	t.link.RefuseWith(codes[t.rand.IntN(len(codes))])
	defer t.link.RefuseWith("")
	t.link.Cut()
	<-ctx.Done()
	return nil
}

// holdTasksSQL locks what a program's transaction would lock that signals so many runs. Rows that a
// turn has locked in this moment are left to it.
const holdTasksSQL = `
select run_id from reprise.tasks where run_id in (select run_id from reprise.tasks order by random() limit $1)
for update skip locked`

// held is a transaction that stays open.
func (t *trouble) held(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, t.dsn)
	if err != nil {
		return err
	}
	bye := context.WithoutCancel(ctx)
	defer conn.Close(bye)
	tx, err := conn.Begin(ctx)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, holdTasksSQL, heldRuns); err != nil {
		return errors.Join(err, tx.Rollback(bye))
	}
	<-ctx.Done()
	return tx.Rollback(bye)
}

// sleep waits, and tells whether ctx has let it.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
