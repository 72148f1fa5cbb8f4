package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal/driver"
)

// listenLoop keeps one connection for hints, with a pause between tries that grows while
// none succeeds. A connection that lasted resets the pause, so that one break is answered quickly
// and a server that is gone is not asked all the time.
func (h *hints) listenLoop(ctx context.Context) {
	pause := time.Duration(reconnectMin)
	for ctx.Err() == nil {
		began := time.Now()
		h.listenSession(ctx)
		if time.Since(began) > reconnectMax {
			pause = reconnectMin
		}
		sleep(ctx, pause)
		pause = min(2*pause, reconnectMax)
	}
}

// listenSession listens until the connection fails or ctx ends. The scan comes after LISTEN, so
// whatever is announced is either found by the scan or heard.
func (h *hints) listenSession(ctx context.Context) {
	conn, err := h.s.sessions.connect(ctx)
	if err != nil {
		return
	}
	defer hangUp(conn)
	if h.prepare(ctx, conn) != nil {
		return
	}
	h.setListening(true)
	defer h.setListening(false)
	h.publish(driver.Hint{Kind: driver.HintScan}) // whatever was sent before LISTEN is lost
	for h.wait(ctx, conn) == nil {
	}
}

// setListening notes whether the listener is connected, for Watch.
func (h *hints) setListening(listening bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.listening = listening
}

// prepare listens: what is published from here on is heard. It must be answered in time, because
// the connection may be dead.
func (h *hints) prepare(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	_, err := conn.Exec(ctx, `LISTEN "`+h.channel+`"`)
	return err
}

// ping makes the listener ask for a sign of life now. It does not wait for the answer.
func (h *hints) ping() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked = true
	if h.wake != nil {
		h.wake()
	}
}

// wait returns after a notification, or a silence that the server broke when asked. A connection
// whose other end is gone without a word fails here.
func (h *hints) wait(ctx context.Context, conn *pgx.Conn) error {
	waiting, cancel := context.WithTimeout(ctx, listenPing)
	defer cancel()
	if h.interruptible(cancel) {
		n, err := conn.WaitForNotification(waiting)
		h.interruptible(nil)
		switch {
		case err == nil:
			h.receive(n.Payload)
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case waiting.Err() == nil || conn.IsClosed():
			return err
		}
	}
	ping, cancelPing := context.WithTimeout(ctx, listenPingTimeout)
	defer cancelPing()
	sent := time.Now()
	err := conn.Ping(ping)
	if err == nil {
		h.s.sessions.heard(conn, sent)
	}
	return err
}

// interruptible publishes the way to interrupt the wait, nil for none, unless somebody has asked
// already: under the same mutex, so no question falls between the look and the wait.
func (h *hints) interruptible(cancel context.CancelFunc) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if cancel != nil && h.asked {
		h.asked = false
		return false
	}
	h.wake = cancel
	return true
}
