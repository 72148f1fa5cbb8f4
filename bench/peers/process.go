package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// childFlag makes this program a child; the job follows it.
const childFlag = "-child"

// process is a child that runs a job.
type process struct {
	cmd    *exec.Cmd
	events *json.Decoder
}

func startProcess(ctx context.Context, j Job) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(j)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, childFlag, string(text))
	cmd.Env = append(os.Environ(), gogcEnv+"="+collectorTarget())
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &process{cmd, json.NewDecoder(out)}, cmd.Start()
}

// wait returns the child's next event, which must have this name.
func (p *process) wait(name string) (Event, error) {
	var e Event
	err := p.events.Decode(&e)
	switch {
	case err != nil:
		return e, fmt.Errorf("wait for %q: %w", name, err)
	case e.Name == "error":
		return e, errors.New(e.Error)
	case e.Name != name:
		return e, fmt.Errorf("wait for %q: got %q", name, e.Name)
	}
	return e, nil
}

// end waits for a child that has nothing more to say.
func (p *process) end() error {
	var e Event
	err := p.events.Decode(&e)
	left := p.cmd.Wait()
	if err == nil && e.Name == "error" {
		return errors.New(e.Error)
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, left)
}

// kill ends the child with SIGKILL and returns when that was asked for.
func (p *process) kill() time.Time {
	at := time.Now()
	p.cmd.Process.Kill()
	p.cmd.Wait()
	return at
}

// runProcess runs a job that reports nothing.
func runProcess(ctx context.Context, j Job) error {
	p, err := startProcess(ctx, j)
	if err != nil {
		return err
	}
	if err := p.end(); err != nil {
		return fmt.Errorf("%s of %s: %w", j.Role, j.Engine, err)
	}
	return nil
}

// measureProcess runs a job that reports figures.
func measureProcess(ctx context.Context, j Job) (Figures, error) {
	p, err := startProcess(ctx, j)
	if err != nil {
		return nil, err
	}
	defer p.kill()
	e, err := p.wait("figures")
	return e.Figures, err
}

// recoverProcesses kills one of two workers and asks the other what it resumed. If it resumed nothing, a third
// worker takes the dead one's name, which is how engines without take-over are restarted.
func recoverProcesses(ctx context.Context, j Job) (Figures, error) {
	j.Role, j.Node = Victim, "one"
	victim, err := startProcess(ctx, j)
	if err != nil {
		return nil, err
	}
	defer victim.kill()
	if _, err := victim.wait("half"); err != nil {
		return nil, fmt.Errorf("victim: %w", err)
	}
	second := j
	second.Role, second.Node = Survivor, "two"
	survivor, err := startProcess(ctx, second)
	if err != nil {
		return nil, err
	}
	defer survivor.kill()
	if _, err := survivor.wait("ready"); err != nil {
		return nil, fmt.Errorf("survivor: %w", err)
	}
	time.Sleep(time.Second) // both are live for a while
	killed := victim.kill()
	e, err := survivor.wait("figures")
	if err != nil {
		return nil, fmt.Errorf("survivor: %w", err)
	}
	f := Figures{"resumed": float64(e.Resumed)}
	f.times("", killed, e)
	if e.Resumed > 0 {
		return f, nil
	}
	j.Role = Survivor
	began := time.Now()
	again, err := startProcess(ctx, j)
	if err != nil {
		return nil, err
	}
	defer again.kill()
	if _, err := again.wait("ready"); err != nil {
		return nil, fmt.Errorf("restart: %w", err)
	}
	if e, err = again.wait("figures"); err != nil {
		return nil, fmt.Errorf("restart: %w", err)
	}
	f["restart_resumed"] = float64(e.Resumed)
	f.times("restart_", began, e)
	return f, nil
}

// times adds what happened of an event's moments.
func (f Figures) times(prefix string, since time.Time, e Event) {
	for name, at := range map[string]time.Time{"first_s": e.First, "last_s": e.All, "done_s": e.Done} {
		if !at.IsZero() {
			f[prefix+name] = at.Sub(since).Seconds()
		}
	}
}
