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

const logTailBytes = 4 << 10 // enough to see why a server did not start

// process is a running postmaster with all of its children.
type process struct {
	cmd    *exec.Cmd
	dir    string
	exited chan struct{} // closed when the postmaster is gone
	// gone is closed when its children are gone as well: each inherits the write end of a pipe, so
	// the read end meets its end when the last of them is dead. Looking for their pids would be a
	// race.
	gone chan struct{}
}

// startProcess runs cmd with its output in dir/log, and marks the folder as in use.
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
// immediate shutdown, SIGKILL.
func (p *process) stop() error {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT} {
		p.signal(sig)
		if p.waitGone(stopWait) {
			return p.mark()
		}
	}
	return p.kill()
}

// kill ends the postmaster; its children see that and end.
func (p *process) kill() error {
	p.signal(syscall.SIGKILL)
	if !p.waitGone(stopWait) {
		return fmt.Errorf("postgres (pid %d) was killed, but some of its processes still run", p.cmd.Process.Pid)
	}
	return p.mark()
}

func (p *process) signal(sig syscall.Signal) {
	_ = p.cmd.Process.Signal(sig) // fails only if it is gone already, and Wait knows that without a race
}

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

// mark tells the supervisor that the pid in the server's folder is nobody's any more.
func (p *process) mark() error {
	return os.WriteFile(filepath.Join(p.dir, stoppedMarker), nil, 0o600)
}

// logTail returns the end of the server's log as an error.
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
