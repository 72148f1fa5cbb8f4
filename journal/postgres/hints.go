package postgres

import (
	"context"
	"encoding/base64"
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
)

// notifySQL tells other processes. It has a transaction of its own: NOTIFY makes commits queue up.
const notifySQL = `SELECT pg_notify($1::text, $2::text)`

// hints implements journal.Hints. Its goroutines start when they are needed and end with the store.
type hints struct {
	s          *Store
	self       string // names this store in payloads, so that it does not hear itself
	channel    string
	ctx        context.Context // ends with the store
	cancel     context.CancelFunc
	running    sync.WaitGroup
	listenOnce sync.Once // starts the listener
	notifyOnce sync.Once // starts the publisher
	flush      chan struct{}

	mu        sync.Mutex // guards what follows
	closed    bool
	watchers  map[int]func(journal.Hint)
	next      int
	listening bool                    // the listener is connected
	pending   map[string]struct{}     // encoded hints that wait for the next flush
	members   map[journal.NodeID]bool // nodes of this store, whose locks the listener holds
	changes   int                     // of members
	wake      context.CancelFunc      // interrupts the listener's wait; nil while it does not wait
}

func newHints(s *Store) *hints {
	h := &hints{s: s, self: uuid.NewString()[:8], channel: fmt.Sprintf("reprise_%08x", lockClass(s.o.Schema)),
		flush: make(chan struct{}, 1), watchers: map[int]func(journal.Hint){}, pending: map[string]struct{}{},
		members: map[journal.NodeID]bool{}}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	return h
}

func (h *hints) close() {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.cancel()
	h.running.Wait()
}

// startLoop runs a goroutine that ends with the store.
func (h *hints) startLoop(once *sync.Once, run func(ctx context.Context)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed {
		once.Do(func() { h.running.Go(func() { run(h.ctx) }) })
	}
}

// Watch implements journal.Hints. Behind a pooler there is nothing to hear.
func (h *hints) Watch(ctx context.Context, fn func(journal.Hint)) error {
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
	if h.s.o.Pooler || listening {
		fn(journal.Hint{Kind: journal.HintScan}) // else it comes once the listener is connected
	}
	if !h.s.o.Pooler {
		h.startLoop(&h.listenOnce, h.listenLoop)
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-h.ctx.Done():
		return fmt.Errorf("watch hints: %w: %w", journal.ErrUnavailable, errStoreDone)
	}
}

func (h *hints) publish(list ...journal.Hint) {
	h.mu.Lock()
	fns := slices.Collect(maps.Values(h.watchers))
	h.mu.Unlock()
	for _, fn := range fns {
		for _, hint := range list {
			fn(hint)
		}
	}
}

// Notify implements journal.Hints. Equal hints become one, and more than fit become "look at everything".
func (h *hints) Notify(list []journal.Hint) {
	if h.s.o.Pooler || len(list) == 0 {
		return
	}
	h.mu.Lock()
	for _, hint := range list {
		if len(h.pending) >= pendingHintsMax {
			hint = journal.Hint{Kind: journal.HintScan}
		}
		h.pending[encodeHint(hint)] = struct{}{}
	}
	h.mu.Unlock()
	h.startLoop(&h.notifyOnce, h.notifyLoop)
	select {
	case h.flush <- struct{}{}:
	default:
	}
}

// notifyLoop sends what gathered, at most once in notifyInterval. Hints that cannot be sent are lost: polling is correct
// without them.
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
		if len(lines) > 0 {
			h.send(ctx, lines)
		}
		pause.Reset(notifyInterval)
		select {
		case <-ctx.Done():
			return
		case <-pause.C:
		}
	}
}

func (h *hints) send(ctx context.Context, lines []string) {
	ctx, cancel := context.WithTimeout(ctx, notifyTimeout)
	defer cancel()
	payload := h.self + "\n" + strings.Join(lines, "\n")
	if len(payload) > notifyBytesMax {
		payload = h.self + "\n" + encodeHint(journal.Hint{Kind: journal.HintScan})
	}
	_ = h.s.call(ctx, func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, notifySQL, h.channel, payload)
		return err
	})
}

// encodeHint returns a line: a letter, and what the kind needs. Runs are in base64, so that more fit.
func encodeHint(h journal.Hint) string {
	run := base64.RawURLEncoding.EncodeToString(h.Run[:])
	switch h.Kind {
	case journal.HintTasks:
		return "t"
	case journal.HintInbox:
		return "i" + run + strconv.Itoa(int(h.Node))
	case journal.HintClosed:
		return "c" + run
	case journal.HintWaiter:
		return "w"
	}
	return "s"
}

const encodedRunBytes = 22

// decodeHint reads what encodeHint wrote. What it does not understand comes from a newer release.
func decodeHint(line string) journal.Hint {
	scan := journal.Hint{Kind: journal.HintScan}
	if line == "" {
		return scan
	}
	kind, rest := line[0], line[1:]
	switch {
	case kind == 't':
		return journal.Hint{Kind: journal.HintTasks}
	case kind == 'w':
		return journal.Hint{Kind: journal.HintWaiter}
	case kind != 'i' && kind != 'c' || len(rest) < encodedRunBytes:
		return scan
	}
	h := journal.Hint{Kind: journal.HintClosed}
	run, err := base64.RawURLEncoding.DecodeString(rest[:encodedRunBytes])
	if err != nil || copy(h.Run[:], run) != len(h.Run) {
		return scan
	}
	if kind == 'i' {
		node, err := strconv.ParseInt(rest[encodedRunBytes:], 10, 32)
		if err != nil {
			return scan
		}
		h.Kind, h.Node = journal.HintInbox, journal.NodeID(node)
	}
	return h
}

// receive tells the watchers what another process sent.
func (h *hints) receive(payload string) {
	from, rest, _ := strings.Cut(payload, "\n")
	if from == h.self {
		return
	}
	var list []journal.Hint
	for line := range strings.SplitSeq(rest, "\n") {
		list = append(list, decodeHint(line))
	}
	h.publish(list...)
}
