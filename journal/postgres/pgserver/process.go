package pgserver

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// logTailBytes is the end of the log that an error holds: enough to see why a server did not start.
const logTailBytes = 4 << 10 // enough to see why a server did not start

// process is a running postmaster with all of its children.
//
// A postmaster that is killed leaves children that end a moment later, and until then they may
// still write. Whoever restarts on the same data, or removes it, must wait for all of them. Looking
// for their pids would be a race, so each inherits the write end of a pipe: the read end meets its
// end when the last of them is dead.
type process struct {
	cmd    *exec.Cmd
	dir    string
	exited chan struct{} // closed when the postmaster is gone
	// gone is closed when its children are gone as well: each inherits the write end of a pipe, so
	// the read end meets its end when the last of them is dead. Looking for their pids would be a
	// race.
	gone chan struct{}
}

// startProcess runs cmd with its output in dir/log. It first removes the marker of a stopped
// server: from here on the supervisor must look for a process to stop.
func startProcess(cmd *exec.Cmd, dir string) (*process, error) {
	log, err := os.OpenFile(filepath.Join(dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	if err := os.Remove(filepath.Join(dir, stoppedMarker)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	alive, inherited, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer inherited.Close()
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = log, log, []*os.File{inherited}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, alive.Close())
	}
	p := &process{cmd: cmd, dir: dir, exited: make(chan struct{}), gone: make(chan struct{})}
	go func() {
		defer close(p.exited)
		_ = cmd.Wait() // any way to end is fine: the caller asked for it, or sees that the server is gone
	}()
	go func() {
		defer close(p.gone)
		defer alive.Close()
		_, _ = io.Copy(io.Discard, alive)
	}()
	return p, nil
}

// stop ends the server in three ways, the next if the one before takes too long: fast shutdown,
// immediate shutdown, SIGKILL. The first waits for nobody's transaction and writes a checkpoint.
func (p *process) stop() error {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT} {
		p.signal(sig)
		if p.waitGone(stopWait) {
			return p.mark()
		}
	}
	return p.kill()
}

// kill ends the postmaster; its children see that and end. It returns when they are gone, so the
// caller may start another server on the data.
func (p *process) kill() error {
	p.signal(syscall.SIGKILL)
	if !p.waitGone(stopWait) {
		return fmt.Errorf("postgres (pid %d) was killed, but some of its processes still run", p.cmd.Process.Pid)
	}
	return p.mark()
}

// signal sends a signal to the postmaster, which passes it on to its children in its own way:
// SIGINT makes it end their transactions, SIGQUIT makes them end at once, and SIGKILL leaves them
// to notice.
func (p *process) signal(sig syscall.Signal) {
	_ = p.cmd.Process.Signal(sig) // fails only if it is gone already, and Wait knows that without a race
}

// waitGone waits for the postmaster and its children, and tells whether they are gone in time.
func (p *process) waitGone(limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for _, ch := range []chan struct{}{p.exited, p.gone} {
		select {
		case <-ch:
		case <-timer.C:
			return false
		}
	}
	return true
}

// mark tells the supervisor that the pid in the server's folder is nobody's any more: the number
// may belong to another process by the time the supervisor reads it.
func (p *process) mark() error {
	return os.WriteFile(filepath.Join(p.dir, stoppedMarker), nil, 0o600)
}

// logTail returns the end of the server's log as an error: a server that does not start says why
// nowhere else.
func (p *process) logTail() error {
	text, err := os.ReadFile(filepath.Join(p.dir, "log"))
	if err != nil {
		return err
	}
	if len(text) > logTailBytes {
		text = text[len(text)-logTailBytes:]
	}
	return fmt.Errorf("the server's log ends with: %s", bytes.TrimSpace(text))
}
