package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal/postgres/pgserver"
)

// database is where the journal and the effects are. It is not the server's own one, so that it can
// be renamed.
const database = "app"

// role is whom nodes and clients connect as: no superuser, because limits do not hold for those.
const role = "worker"

// server is a Postgres of our own.
type server struct {
	*pgserver.Server
	bin string // the folder of its programs
}

// startServer starts an empty server.
func startServer(ctx context.Context, settings map[string]string) (*server, error) {
	own, err := pgserver.Start(ctx, &pgserver.Options{Settings: settings})
	if err != nil {
		return nil, err
	}
	s := &server{Server: own}
	if s.bin, err = ask[string](ctx, s, "postgres", `select setting from pg_config where name = 'BINDIR'`); err != nil {
		return nil, errors.Join(err, own.Stop())
	}
	return s, nil
}

// startStandby starts a server that follows another one, which it reaches at an address. It begins
// as a server of its own, whose data are replaced by a copy of the other one's.
func startStandby(ctx context.Context, primary *server, at *net.TCPAddr) (*server, error) {
	s, err := startServer(ctx, map[string]string{
		"primary_conninfo": fmt.Sprintf("host=%s port=%d user=postgres application_name=%s", at.IP, at.Port, standbyName),
	})
	if err != nil {
		return nil, err
	}
	if err := s.follow(ctx, primary); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

const standbyName = "standby"

func (s *server) follow(ctx context.Context, primary *server) error {
	data, err := ask[string](ctx, s, "postgres", `show data_directory`)
	if err == nil {
		err = s.Kill()
	}
	if err == nil {
		err = os.RemoveAll(data)
	}
	if err == nil {
		err = s.tool(ctx, filepath.Dir(data), "pg_basebackup", "-d", primary.DSN(""), "-D", data, "-X", "stream", "-c", "fast", "--no-sync", "-R")
	}
	if err == nil {
		err = s.Restart(ctx)
	}
	if err != nil {
		return fmt.Errorf("make the standby: %w", err)
	}
	return nil
}

// tool runs one of the server's programs as the server's user.
func (s *server) tool(ctx context.Context, dir, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, filepath.Join(s.bin, name), args...)
	cmd.Dir = dir
	if err := runAsOwner(cmd, dir); err != nil {
		return err
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, out)
	}
	return nil
}

// address is its host and port.
func (s *server) address() string {
	u, err := url.Parse(s.DSN(""))
	if err != nil {
		panic(err) // it is made from a number
	}
	return u.Host
}

// await polls a question until the answer is yes. A server that is starting, or a database that is
// being renamed, gives no answer for a while.
func (s *server) await(ctx context.Context, db, question string) error {
	ctx, cancel := context.WithTimeout(ctx, awaitMax)
	defer cancel()
	tick := time.NewTicker(awaitPace)
	defer tick.Stop()
	for {
		yes, err := ask[bool](ctx, s, db, question)
		if yes {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waited in vain for %q: %w", question, errors.Join(ctx.Err(), err))
		case <-tick.C:
		}
	}
}

const (
	awaitMax  = 60 * time.Second
	awaitPace = 20 * time.Millisecond
)

// ask puts a question with one answer to a database of a server, on a connection of its own.
func ask[T any](ctx context.Context, s *server, db, sql string) (v T, err error) {
	conn, err := pgx.Connect(ctx, s.DSN(db))
	if err != nil {
		return v, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if err := conn.QueryRow(ctx, sql).Scan(&v); err != nil {
		return v, fmt.Errorf("%s: %w", sql, err)
	}
	return v, nil
}

// tell executes statements, each by itself.
func tell(ctx context.Context, s *server, db string, statements ...string) error {
	conn, err := pgx.Connect(ctx, s.DSN(db))
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	for _, sql := range statements {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return fmt.Errorf("%s: %w", sql, err)
		}
	}
	return nil
}

// position is a place in the log of a server.
type position uint64

// parsePosition reads two hexadecimal halves.
func parsePosition(text string) (position, error) {
	high, low, _ := strings.Cut(text, "/")
	h, err := strconv.ParseUint(high, 16, 32)
	if err != nil {
		return 0, fmt.Errorf("position %q: %w", text, err)
	}
	l, err := strconv.ParseUint(low, 16, 32)
	if err != nil {
		return 0, fmt.Errorf("position %q: %w", text, err)
	}
	return position(h<<32 | l), nil
}

// reading says that at this time the log of a server had come to this position at most.
type reading struct {
	at  time.Time
	end position
}

// logClock reads the end of a server's log all the time, until the server dies. It tells later what
// a standby has lost that had received the log up to some position.
type logClock struct {
	readings []reading
	done     chan struct{}
}

const logPace = 5 * time.Millisecond

// startLogClock begins to read.
func startLogClock(ctx context.Context, s *server) (*logClock, error) {
	conn, err := pgx.Connect(ctx, s.DSN("postgres"))
	if err != nil {
		return nil, err
	}
	c := &logClock{done: make(chan struct{})}
	go func() {
		defer close(c.done)
		defer conn.Close(context.WithoutCancel(ctx))
		tick := time.NewTicker(logPace)
		defer tick.Stop()
		for range tick.C {
			at, text := time.Now(), ""
			if err := conn.QueryRow(ctx, `select pg_current_wal_insert_lsn()::text`).Scan(&text); err != nil {
				return // the server is dead
			}
			if end, err := parsePosition(text); err == nil {
				c.readings = append(c.readings, reading{at, end})
			}
		}
	}()
	return c, nil
}

// before returns a time before which everything that was acknowledged is in the log up to some
// position. The server must be dead by then.
func (c *logClock) before(end position) time.Time {
	<-c.done
	var at time.Time
	for _, r := range c.readings {
		if r.end <= end {
			at = r.at
		}
	}
	return at
}
