package postgres

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// notifySQL sends hints to other processes. It is never part of a transaction that writes: NOTIFY
// takes a lock of the whole database at commit, in the order of arrival, so commits that notified
// would wait for each other's disk.
const notifySQL = `SELECT pg_notify($1::text, $2::text)`

// hints implements driver.Hints and driver.CommitWatcher: it passes hints to the watchers of this
// process, and sends them to other processes.
//
// Hints are only a matter of speed. Every one may get lost, be doubled or come late: what they
// announce is also found by polling. So nothing here is retried, the queue of unsent hints is
// bounded, and a gap in listening is made up for by one hint that says "look at everything".
//
// Goroutines start when they are needed and end with the store: listenLoop has the listener's
// connection, notifyLoop sends, and others of the store are started here too. None is started after
// close has begun, so close can wait for all. mu is held for moments only, and never while a
// watcher's function runs, as that may call back.
type hints struct {
	s          *Store
	self       string // names this store in payloads, so that it does not hear itself
	channel    string
	ctx        context.Context // ends with the store
	cancel     context.CancelFunc
	running    sync.WaitGroup
	listenOnce sync.Once     // starts the listener
	notifyOnce sync.Once     // starts the publisher
	flush      chan struct{} // one token: there is something to send
	urgent     chan struct{} // one token: some of it should not wait for notifyInterval
	endings    *endings

	mu        sync.Mutex // guards what follows
	closed    bool
	watchers  map[int]func(driver.Hint)
	next      int
	listening bool                // the listener is connected
	pending   map[string]struct{} // encoded hints that wait for the next flush
	asked     bool                // the listener is to ask for a sign of life
	wake      context.CancelFunc  // interrupts the listener's wait; nil while it does not wait
}

func newHints(s *Store) *hints {
	h := &hints{s: s, self: uuid.NewString()[:8], channel: fmt.Sprintf("reprise_%08x", lockClass(s.o.Schema)),
		flush: make(chan struct{}, 1), urgent: make(chan struct{}, 1), watchers: map[int]func(driver.Hint){}, pending: map[string]struct{}{}}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	h.endings = &endings{spawn: h.spawn, ask: h.ended, open: map[int64]*ending{}}
	return h
}

// close ends both loops and returns when they have ended.
func (h *hints) close() {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.cancel()
	h.running.Wait()
}

// startLoop runs a goroutine that ends with the store, at most once for each once.
func (h *hints) startLoop(once *sync.Once, run func(ctx context.Context)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed {
		once.Do(func() { h.running.Go(func() { run(h.ctx) }) })
	}
}

// spawn runs a function whose context ends with the store, and tells whether it does: not after
// close has begun.
func (h *hints) spawn(run func(ctx context.Context)) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	h.running.Go(func() { run(h.ctx) })
	return true
}

// Watch implements driver.Hints. It begins with a scan, because hints that came before the watch
// are lost: at once if the listener is connected, else as soon as it is. Without a session that
// lasts nothing is ever heard, so the scan is all there is.
func (h *hints) Watch(ctx context.Context, fn func(driver.Hint)) error {
	h.mu.Lock()
	n := h.next
	h.next++
	h.watchers[n] = fn
	listening := h.listening
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.watchers, n)
	}()
	if !h.s.sessions.lasting || listening {
		fn(driver.Hint{Kind: driver.HintScan}) // else it comes once the listener is connected
	}
	if h.s.sessions.lasting {
		h.startLoop(&h.listenOnce, h.listenLoop)
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-h.ctx.Done():
		return fmt.Errorf("watch hints: %w", journal.ErrStoreClosed)
	}
}

// publish passes hints to the watchers of this process, on the caller's goroutine.
func (h *hints) publish(list ...driver.Hint) {
	h.mu.Lock()
	fns := slices.Collect(maps.Values(h.watchers))
	h.mu.Unlock()
	for _, fn := range fns {
		for _, hint := range list {
			fn(hint)
		}
	}
}

// Notify implements driver.Hints. Hints gather until the next flush: equal ones become one, and
// more than fit become "look at everything". It does not wait for the server.
func (h *hints) Notify(list []driver.Hint) {
	if !h.s.sessions.lasting || len(list) == 0 {
		return
	}
	urgent := false
	h.mu.Lock()
	for _, hint := range list {
		urgent = urgent || hint.Kind == driver.HintLimit && hint.Node != 0
		if len(h.pending) >= pendingHintsMax {
			hint = driver.Hint{Kind: driver.HintScan}
		}
		h.pending[encodeHint(hint)] = struct{}{}
	}
	h.mu.Unlock()
	h.startLoop(&h.notifyOnce, h.notifyLoop)
	if urgent {
		token(h.urgent)
	}
	token(h.flush)
}

// token puts a token into a channel that has room for one.
func token(to chan struct{}) {
	select {
	case to <- struct{}{}:
	default:
	}
}

// notifyLoop sends what gathered, at most once in notifyInterval, or in notifyUrgent if a node was
// granted something of a limit: the place stands empty until it hears of it. The first hint after a
// pause goes out at once, those after it share the next flush. Hints that cannot be sent become
// one, to look at everything, which is tried again: who hears it may poll as seldom as once an
// hour.
func (h *hints) notifyLoop(ctx context.Context) {
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.flush:
		}
		h.mu.Lock()
		lines := slices.Sorted(maps.Keys(h.pending))
		clear(h.pending)
		h.mu.Unlock()
		select {
		case <-h.urgent: // what was urgent is among the lines
		default:
		}
		wait, urgent := notifyUrgent, h.urgent
		if len(lines) > 0 && !h.send(ctx, lines) {
			h.Notify([]driver.Hint{{Kind: driver.HintScan}})
			wait, urgent = notifyRetry, nil
		}
		pause.Reset(wait)
		select {
		case <-ctx.Done():
			return
		case <-pause.C:
		}
		pause.Reset(notifyInterval - notifyUrgent)
		select {
		case <-ctx.Done():
			return
		case <-urgent:
		case <-pause.C:
		}
	}
}

// send flushes hints. The payload begins with the name of this store, so that it does not hear
// itself. sent is false if the store did not answer; what it refuses is not worth another try.
func (h *hints) send(ctx context.Context, lines []string) (sent bool) {
	ctx, cancel := context.WithTimeout(ctx, notifyTimeout)
	defer cancel()
	payload := h.self + "\n" + strings.Join(lines, "\n")
	if len(payload) > notifyBytesMax {
		payload = h.self + "\n" + encodeHint(driver.Hint{Kind: driver.HintScan})
	}
	err := h.s.call(ctx, func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, notifySQL, h.channel, payload)
		return err
	})
	return lasts(err) || !errors.Is(err, journal.ErrUnavailable) && !errors.Is(err, context.DeadlineExceeded)
}

// txidSQL names the transaction that it is sent in, also inside of a savepoint.
const txidSQL = `SELECT txid_current()`

// endedSQL returns which of some transactions have ended, and how. It looks at memory that the
// server has of them and takes no locks. A transaction is in progress until others see what it has
// written. What became of one that ended long ago is forgotten, and is null.
const endedSQL = `
SELECT i.id, coalesce(txid_status(i.id), 'committed') = 'committed'
FROM unnest($1::bigint[]) AS i(id)
WHERE txid_status(i.id) IS DISTINCT FROM 'in progress'`

// AfterCommit implements driver.CommitWatcher. It costs a round trip in the caller's transaction.
func (h *hints) AfterCommit(ctx context.Context, tx journal.Tx, done func()) {
	inner, err := unwrap(tx)
	if err != nil || h.endings.full() {
		return
	}
	var id int64
	if inner.QueryRow(ctx, txidSQL).Scan(&id) == nil {
		h.endings.add(id, done)
	}
}

// ended asks which transactions have ended, see endings.
func (h *hints) ended(ctx context.Context, ids []int64) map[int64]bool {
	ctx, cancel := context.WithTimeout(ctx, notifyTimeout)
	defer cancel()
	ended := map[int64]bool{}
	err := h.s.call(ctx, func(ctx context.Context, c *pgx.Conn) error {
		clear(ended)
		rows, err := c.Query(ctx, endedSQL, ids)
		if err != nil {
			return err
		}
		var id int64
		var committed bool
		_, err = pgx.ForEachRow(rows, []any{&id, &committed}, func() error { ended[id] = committed; return nil })
		return err
	})
	if lasts(err) {
		for _, id := range ids {
			ended[id] = true
		}
	}
	return ended
}

// encodeHint returns a line: a letter, and what the kind needs. Runs are in base64, so that more of
// them fit into a payload. The letters are a protocol between releases that run side by side: one
// that a release does not know is read as a scan.
func encodeHint(h driver.Hint) string {
	run := base64.RawURLEncoding.EncodeToString(h.Run[:])
	switch h.Kind {
	case driver.HintTasks:
		return "t"
	case driver.HintInbox:
		return "i" + run + strconv.Itoa(int(h.Node))
	case driver.HintClosed:
		return "c" + run
	case driver.HintTerminated:
		return "x" + run
	case driver.HintNode:
		return "n"
	case driver.HintWaiter:
		return "w"
	case driver.HintRunLimits:
		return "r"
	case driver.HintLimit:
		return "l" + strconv.Itoa(int(h.Node))
	}
	return "s"
}

// encodedRunBytes is the length of a run's id in base64.
const encodedRunBytes = 22

// decodeHint reads what encodeHint wrote. Whatever it does not understand comes from a newer
// release, or from somebody else on the channel, and is read as a scan: to look once too often is
// always correct.
func decodeHint(line string) driver.Hint {
	scan := driver.Hint{Kind: driver.HintScan}
	if line == "" {
		return scan
	}
	kind, rest := line[0], line[1:]
	switch {
	case kind == 't':
		return driver.Hint{Kind: driver.HintTasks}
	case kind == 'n':
		return driver.Hint{Kind: driver.HintNode}
	case kind == 'w':
		return driver.Hint{Kind: driver.HintWaiter}
	case kind == 'r':
		return driver.Hint{Kind: driver.HintRunLimits}
	case kind == 'l':
		if node, err := strconv.ParseInt(rest, 10, 32); err == nil {
			return driver.Hint{Kind: driver.HintLimit, Node: journal.NodeID(node)}
		}
		return scan
	case kind != 'i' && kind != 'c' && kind != 'x' || len(rest) < encodedRunBytes:
		return scan
	}
	h := driver.Hint{Kind: driver.HintClosed}
	if kind == 'x' {
		h.Kind = driver.HintTerminated
	}
	run, err := base64.RawURLEncoding.DecodeString(rest[:encodedRunBytes])
	if err != nil || copy(h.Run[:], run) != len(h.Run) {
		return scan
	}
	if kind == 'i' {
		node, err := strconv.ParseInt(rest[encodedRunBytes:], 10, 32)
		if err != nil {
			return scan
		}
		h.Kind, h.Node = driver.HintInbox, journal.NodeID(node)
	}
	return h
}

// receive passes what another process sent to the watchers.
func (h *hints) receive(payload string) {
	from, rest, _ := strings.Cut(payload, "\n")
	if from == h.self {
		return
	}
	var list []driver.Hint
	for line := range strings.SplitSeq(rest, "\n") {
		list = append(list, decodeHint(line))
	}
	h.publish(list...)
}
