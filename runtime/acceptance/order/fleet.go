package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// fleet is the worker processes. They are this program again, told by its environment to be a
// worker. Each has a slot; whoever kills the worker of a slot gets a new one there, which is a new
// node with a new name.
type fleet struct {
	dsn, carrier, logs string
	baton              string     // of a relay
	out                io.Writer  // of a relay's workers
	lost               chan error // a worker ended though nobody asked it to

	mu      sync.Mutex
	workers []*process // by slot; guarded by mu
	born    int        // guarded by mu
}

// process is one worker. The parent holds the other end of its standard input and writes nothing:
// when the parent dies, even by SIGKILL, the worker reads the end of the file and ends as well, so
// a killed test leaves no process behind.
type process struct {
	name  string
	cmd   *exec.Cmd
	says  *announcer // of a relay's worker, else nil
	stdin *os.File
	asked atomic.Bool // to end
	ended chan struct{}
}

// launchFleet starts n workers. Stop it even after an error.
func launchFleet(n int, dsn, carrier, logs string) (*fleet, error) {
	f := &fleet{dsn: dsn, carrier: carrier, logs: logs, lost: make(chan error, 1), workers: make([]*process, n)}
	for slot := range n {
		if err := f.launch(slot); err != nil {
			return f, err
		}
	}
	return f, nil
}

// launch starts a worker in a slot. Its node has a name of its own, as every process incarnation is
// a new node.
func (f *fleet) launch(slot int) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.born++
	name := fmt.Sprintf("worker-%d.%d", slot+1, f.born)
	log, err := os.Create(filepath.Join(f.logs, name+".log"))
	if err != nil {
		return err
	}
	defer log.Close()
	in, out, err := os.Pipe()
	if err != nil {
		return err
	}
	defer in.Close()
	p := &process{name: name, cmd: exec.Command(self), stdin: out, ended: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), workerEnv+"="+name, carrierEnv+"="+f.carrier, dsnEnv+"="+f.dsn)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = in, log, log
	if f.baton != "" {
		p.says = newAnnouncer(f.out)
		p.cmd.Env, p.cmd.Stdout = append(p.cmd.Env, batonEnv+"="+f.baton), p.says
	}
	if err := p.cmd.Start(); err != nil {
		return errors.Join(err, out.Close())
	}
	go func() {
		defer close(p.ended)
		_ = p.cmd.Wait() // the state says how it ended
		_ = out.Close()
		if !p.asked.Load() {
			select {
			case f.lost <- fmt.Errorf("%s ended by itself: %s", p.name, p.cmd.ProcessState):
			default: // one is enough
			}
		}
	}()
	f.workers[slot] = p
	return nil
}

// kill ends the worker of a slot with SIGKILL and returns its node's name and when the signal was
// sent.
func (f *fleet) kill(slot int) (name string, at time.Time) {
	f.mu.Lock()
	p := f.workers[slot]
	f.mu.Unlock()
	at = time.Now()
	p.asked.Store(true)
	_ = p.cmd.Process.Kill() // fails only if it is gone
	<-p.ended
	return p.name, at
}

// fleetDrains is how long workers may take to end. A pool of pgx waits 15 s for the farewell of a
// connection that has fallen silent.
const fleetDrains = time.Minute

// Stop lets the workers drain, and kills those that take too long. It reports workers that did not
// end in order.
func (f *fleet) Stop() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.workers {
		if p != nil {
			p.asked.Store(true)
			_ = p.cmd.Process.Signal(syscall.SIGTERM)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), fleetDrains)
	defer cancel()
	var errs error
	for _, p := range f.workers {
		if p == nil {
			continue
		}
		select {
		case <-p.ended:
		case <-ctx.Done():
			_ = p.cmd.Process.Kill()
			<-p.ended
		}
		if state := p.cmd.ProcessState; !state.Success() {
			errs = errors.Join(errs, fmt.Errorf("%s did not drain: %s", p.name, state))
		}
	}
	return errs
}
