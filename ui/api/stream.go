package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// stream is an answer of server-sent events.
type stream struct {
	w     http.ResponseWriter
	began bool
}

// serveStream answers until the request ends, the stream has nothing more to say, or its time is
// up. Its reader connects again then, and is asked again who it is.
func (h *handler) serveStream(w http.ResponseWriter, c *call) {
	select {
	case h.streams <- struct{}{}:
		defer func() { <-h.streams }()
	default:
		fail(w, refuse(tooMany, "%d streams are open", streamsMax))
		return
	}
	var cancel context.CancelFunc
	c.ctx, cancel = context.WithTimeout(c.ctx, streamMax)
	defer cancel()
	s := &stream{w: w}
	err := c.op.stream(c, s)
	switch {
	case err == nil, c.ctx.Err() != nil:
	case !s.began:
		fail(w, c.discreet(err))
	default:
		p := problemOf(c.discreet(err))
		_ = s.send("problem", "", &p)
	}
}

// send writes an event, and begins the answer with the first one. id may be empty.
func (s *stream) send(name, id string, v any) error {
	text, err := json.Marshal(v) // in one line
	if err != nil {
		return err
	}
	line := fmt.Sprintf("event: %s\ndata: %s\n\n", name, text)
	if id != "" {
		line = "id: " + id + "\n" + line
	}
	return s.write(line)
}

// alive writes a comment, so that nobody in between takes the stream for dead.
func (s *stream) alive() error { return s.write(": alive\n\n") }

func (s *stream) write(text string) error {
	if !s.began {
		s.began = true
		s.w.Header().Set("Content-Type", "text/event-stream")
		s.w.Header().Set("X-Accel-Buffering", "no") // of proxies that would gather what comes
		s.w.WriteHeader(http.StatusOK)
	}
	rc := http.NewResponseController(s.w)
	// Instead of the server's, which is for answers that end. A reader that takes nothing more
	// would hold one of the streams for ever: the end of a context does not end a write.
	_ = rc.SetWriteDeadline(time.Now().Add(writeMax)) // what cannot have one is a server of tests
	if _, err := s.w.Write([]byte(text)); err != nil {
		return err
	}
	return rc.Flush()
}

// follow looks again and again, when something tells of a change and at the pace of the feed, until
// look says that there is nothing more to come. While the store is away it goes on. list names what
// a stream of all shows.
func (c *call) follow(s *stream, run journal.RunID, list string, look func(r *reader) (ended bool, err error)) error {
	r := c.h.feed.join(run, list)
	defer c.h.feed.leave(r)
	alive := time.NewTicker(aliveEvery)
	defer alive.Stop()
	var seen []byte
	for told := true; ; {
		if told || run.IsZero() || !unchanged(c, r, &seen) {
			ended, err := look(r)
			away := s.began && errors.Is(err, journal.ErrUnavailable)
			if ended || err != nil && !away {
				return err
			}
		}
		var err error
		if told, err = c.wait(s, r, alive.C); err != nil {
			return err
		}
	}
}

// wait waits until something tells of a change, or a poll is due, and at least a moment.
func (c *call) wait(s *stream, r *reader, alive <-chan time.Time) (told bool, err error) {
	least, every := c.h.feed.pace()
	gap, poll := time.NewTimer(least), time.NewTimer(every)
	defer gap.Stop()
	defer poll.Stop()
	select {
	case <-gap.C:
	case <-c.ctx.Done():
		return false, c.ctx.Err()
	}
	for {
		select {
		case <-r.wake:
			return true, nil
		case <-poll.C:
			return false, nil
		case <-alive:
			if err := s.alive(); err != nil {
				return false, err
			}
		case <-c.ctx.Done():
			return false, c.ctx.Err()
		}
	}
}
