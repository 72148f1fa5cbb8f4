package pgserver

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// Limits of starting and stopping. They are for slow machines under load: on a quiet one a server
// starts within a second, and stops within a tenth of one.
const (
	portTriesMax = 5                     // somebody else may take a free port before the server does
	readyWait    = 60 * time.Second      // a loaded machine replays its log slowly
	readyPoll    = 20 * time.Millisecond // between two looks at a starting server
	stopWait     = 10 * time.Second      // for each of the three ways to stop, politest first
)

// Options of a Server. The zero value means the defaults: a server that keeps what it has
// acknowledged through a crash of the machine, on a free port, in a folder that goes away with it.
type Options struct {
	// NoFsync trades safety for speed: with it a crash of the machine (not of Postgres) loses data.
	NoFsync  bool
	Settings map[string]string // more settings of the server, such as "max_connections"
	// Dir is where the server's own folder is made; default os.TempDir(). If root starts the
	// server, user postgres must be able to enter it.
	Dir string
}

// Server is a running Postgres. Its methods may be called from many goroutines; those that start
// and stop it exclude each other.
//
// It is in one of three states: running (postmaster and supervisor are set), killed (supervisor
// alone, the data is there), or stopped for good (neither; the folder is gone). The port stays the
// same through Kill and Restart, so that clients find the server again.
type Server struct {
	dir      string // holds data/, log and the marker of a stopped server
	bin      string
	settings map[string]string
	user     *credential // whom the server runs as; nil for ourselves

	mu         sync.Mutex
	port       int
	postmaster *process // nil while stopped
	supervisor *supervisor
}

// Start makes a database cluster and runs a server on it; it returns when the server takes
// connections. o may be nil. The caller must Stop it; if it dies before, the server stops and
// vanishes by itself. ctx is for the start alone. On an error nothing is left behind, and the error
// holds the end of the server's log.
func Start(ctx context.Context, o *Options) (*Server, error) {
	if o == nil {
		o = &Options{}
	}
	bin, err := findBin()
	if err != nil {
		return nil, err
	}
	user, err := serverUser()
	if err != nil {
		return nil, err
	}
	dir, err := makeDir(o.Dir, user)
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, bin: bin, settings: o.settings(), user: user}
	if s.supervisor, err = supervise(dir); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := s.boot(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start postgres: %w", err), s.Stop())
	}
	return s, nil
}

// DSN returns the address of a database of the server, as a URL. It stays valid until Stop.
func (s *Server) DSN(database string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dsn(database)
}

// dsn is DSN for callers that hold mu. There is no TLS, as nothing leaves the machine, and no
// password.
func (s *Server) dsn(database string) string {
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/%s?sslmode=disable", s.port, database)
}

// Stop shuts the server down and removes its folder. Further calls do nothing. An error says that
// something of either may be left.
func (s *Server) Stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.supervisor == nil {
		return nil
	}
	var err error
	if s.postmaster != nil {
		err = s.postmaster.stop()
		s.postmaster = nil
	}
	err = errors.Join(err, s.supervisor.release())
	s.supervisor = nil
	return err
}

// Kill ends the postmaster with SIGKILL, as a crash would, and returns when all of its processes
// are gone. The data stays for Restart, which recovers as after a crash. A server that does not run
// is left as it is.
func (s *Server) Kill() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.postmaster == nil {
		return nil
	}
	err := s.postmaster.kill()
	s.postmaster = nil
	return err
}

// Restart runs the server again on its data and its port, after a Kill or, if it still runs, a
// shutdown. After Stop it is an error.
func (s *Server) Restart(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.supervisor == nil {
		return errors.New("restart postgres: the server was stopped and its folder is gone")
	}
	if s.postmaster != nil {
		err := s.postmaster.stop()
		s.postmaster = nil
		if err != nil {
			return fmt.Errorf("restart postgres: %w", err)
		}
	}
	var err error
	for range portTriesMax { // a connection in the ephemeral range can hold the port for a moment
		if err = s.run(ctx); err == nil || ctx.Err() != nil {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("restart postgres: %w", err)
	}
	return nil
}

// boot makes the cluster and runs the server on a free port. Somebody else may take the port
// between the look and the start, so another one is tried then.
func (s *Server) boot(ctx context.Context) error {
	if err := s.initdb(ctx); err != nil {
		return err
	}
	var errs error
	for range portTriesMax {
		port, err := freePort()
		if err != nil {
			return err
		}
		s.port = port
		if err = s.run(ctx); err == nil {
			return nil
		}
		errs = errors.Join(errs, err)
		if ctx.Err() != nil {
			break
		}
	}
	return errs
}

// initdb makes the cluster. Its locale is C and its encoding UTF-8 wherever it runs, so that texts
// sort alike on every machine. It is not synced to disk: a cluster whose machine crashes is made
// anew.
func (s *Server) initdb(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, filepath.Join(s.bin, "initdb"), "--pgdata="+s.data(), "--username=postgres",
		"--auth=trust", "--encoding=UTF8", "--no-locale", "--no-sync", "--no-instructions")
	s.prepare(cmd)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb in %s: %w: %s", s.dir, err, out)
	}
	return nil
}

// run starts the postmaster and waits until it takes connections. If it does not, it is killed, and
// the error holds the end of its log, which says why. The caller holds mu, or is Start.
func (s *Server) run(ctx context.Context) error {
	args := []string{"-D", s.data(), "-p", fmt.Sprint(s.port)}
	for _, name := range slices.Sorted(maps.Keys(s.settings)) {
		args = append(args, "-c", name+"="+s.settings[name])
	}
	cmd := exec.Command(filepath.Join(s.bin, "postgres"), args...)
	s.prepare(cmd)
	p, err := startProcess(cmd, s.dir)
	if err != nil {
		return err
	}
	if err := s.waitReady(ctx, p); err != nil {
		return errors.Join(err, p.kill(), p.logTail())
	}
	s.postmaster = p
	return nil
}

// waitReady polls until the server takes a connection, ends, or ctx does. A server that recovers
// from a crash refuses connections for a while, so an error of one is no reason to give up. The
// last of them is part of the error if time runs out.
func (s *Server) waitReady(ctx context.Context, p *process) error {
	ctx, cancel := context.WithTimeout(ctx, readyWait)
	defer cancel()
	tick := time.NewTicker(readyPoll)
	defer tick.Stop()
	var last error
	for {
		conn, err := pgx.Connect(ctx, s.dsn("postgres"))
		if err == nil {
			return conn.Close(ctx)
		}
		last = err
		select {
		case <-tick.C:
		case <-p.exited:
			return errors.New("the server ended while it started")
		case <-ctx.Done():
			return fmt.Errorf("the server takes no connections: %w: %w", ctx.Err(), last)
		}
	}
}

// prepare makes cmd run as the server's user in the server's folder, which that user may enter: the
// folder of this process may be one that only root can read.
func (s *Server) prepare(cmd *exec.Cmd) {
	cmd.Dir = s.dir
	cmd.Env = serverEnv()
	own(cmd, s.user)
}

// serverEnv is our environment without what would change the server or its language: variables such
// as PGDATA name another server, and a locale would change how messages read and texts sort.
func serverEnv() []string {
	var env []string
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "PG") && !strings.HasPrefix(kv, "LC_") && !strings.HasPrefix(kv, "LANG") {
			env = append(env, kv)
		}
	}
	return append(env, "LC_ALL=C")
}

// data is the folder of the cluster. The log and the marker stand beside it and not in it, because
// initdb wants an empty one.
func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// settings returns the server's settings: ours, under the caller's. They are given on the command
// line and not written into the cluster's file, so a Restart has them too, and what the cluster
// says for itself is never asked.
func (o *Options) settings() map[string]string {
	m := map[string]string{
		"listen_addresses":        "127.0.0.1",
		"unix_socket_directories": "", // the path could be too long for a socket, and nobody needs one
		"max_connections":         "200",
		"timezone":                "UTC",
		"log_timezone":            "UTC",
	}
	if o.NoFsync {
		m["fsync"], m["synchronous_commit"], m["full_page_writes"] = "off", "off", "off"
	}
	maps.Copy(m, o.Settings)
	return m
}

// freePort finds a port that nobody listens on at this moment. The server could not tell which port
// it chose by itself, so it has to be given one.
func freePort() (int, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
