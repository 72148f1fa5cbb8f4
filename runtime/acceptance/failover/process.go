package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"
)

// process is a child. The parent holds the other end of its standard input: when the parent dies,
// even by SIGKILL, the child reads the end of the file and ends as well.
type process struct {
	name  string
	cmd   *exec.Cmd
	stdin *os.File
	asked atomic.Bool // to end
	ended chan struct{}
}

// launch starts a child. What it logs is in a file beside its diary.
func launch(o orders) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	told, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	log, err := os.OpenFile(filepath.Join(o.Dir, o.Name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	in, out, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	p := &process{name: o.Name, cmd: exec.Command(self), stdin: out, ended: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), childEnv+"="+string(told))
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = in, log, log
	if err := p.cmd.Start(); err != nil {
		return nil, errors.Join(err, out.Close())
	}
	go func() {
		defer close(p.ended)
		_ = p.cmd.Wait() // the state says how it ended
		_ = out.Close()
	}()
	return p, nil
}

// closes tells a client to start nothing more.
func (p *process) closes() { _, _ = p.stdin.Write([]byte{'\n'}) } // fails only if it has ended

// ask sends SIGTERM.
func (p *process) ask() {
	p.asked.Store(true)
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // fails only if it has ended
}

// kill ends it with SIGKILL and returns when it is gone.
func (p *process) kill() {
	p.asked.Store(true)
	_ = p.cmd.Process.Kill() // fails only if it has ended
	<-p.ended
}

// wait waits for its end. It is killed if it does not end in time.
func (p *process) wait(ctx context.Context, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	select {
	case <-p.ended:
	case <-ctx.Done():
		p.kill()
		return fmt.Errorf("%s did not end within %s", p.name, limit)
	}
	if state := p.cmd.ProcessState; !state.Success() {
		return fmt.Errorf("%s ended with %s", p.name, state)
	}
	return nil
}

// running tells whether it has not ended.
func (p *process) running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}
