package postgres_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres"
)

// childEnv names the job of a child process, childDSNEnv its database.
const (
	childEnv    = "REPRISE_TEST_CHILD"
	childDSNEnv = "REPRISE_TEST_CHILD_DSN"
)

// graceOfChild is that of the node of the job "own".
const graceOfChild = 300 * time.Millisecond

// jobs are what a child process can do. Each gets a store that is open, reads its input from a JSON
// line on standard input when it is to begin, and returns what to print.
var jobs = map[string]func(ctx context.Context, s *postgres.Store, input []byte) (any, error){}

func init() {
	// own joins as a node, claims one task, tells the node's id and waits to be killed.
	jobs["own"] = func(ctx context.Context, s *postgres.Store, _ []byte) (any, error) {
		j := driver.New(s, nil)
		m, err := j.Join(ctx, journal.Node{Name: "child", Routes: []journal.Route{flowRoute}, Lease: time.Hour, Grace: graceOfChild})
		if err != nil {
			return nil, err
		}
		c, err := j.Claim(ctx, driver.ClaimRequest{Node: m.ID(), Routes: []journal.Route{flowRoute}, Max: 1})
		if err != nil || len(c.Tasks) != 1 {
			return nil, fmt.Errorf("claimed %d tasks: %w", len(c.Tasks), err)
		}
		fmt.Println(m.ID())
		select {}
	}
}

func init() {
	jobs["migrate"] = func(ctx context.Context, _ *postgres.Store, input []byte) (any, error) {
		var dsn string
		if err := json.Unmarshal(input, &dsn); err != nil {
			return nil, err
		}
		s, err := postgres.Open(ctx, dsn, nil)
		if err != nil {
			return nil, err
		}
		s.Close()
		return "done", nil
	}
}

// child does a job and returns the exit status.
func child(name string) int {
	ctx := context.Background()
	fail := func(err error) int {
		fmt.Fprintln(os.Stderr, "child:", name, err)
		return 1
	}
	// Without migrations: the child that makes the tables opens a second store.
	s, err := postgres.Open(ctx, os.Getenv(childDSNEnv), &postgres.Options{SkipMigrations: true})
	if err != nil {
		return fail(err)
	}
	defer s.Close()
	fmt.Println("ready")
	input, err := bufio.NewReader(os.Stdin).ReadBytes('\n')
	if err != nil {
		return fail(err)
	}
	answer, err := jobs[name](ctx, s, input)
	if err != nil {
		return fail(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(answer); err != nil {
		return fail(err)
	}
	return 0
}

// process is a child process, ready to begin.
type process struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// spawn starts a child and waits until its store is open.
func spawn(t *testing.T, job, dsn string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command(os.Args[0])}
	p.cmd.Env = append(os.Environ(), childEnv+"="+job, childDSNEnv+"="+dsn)
	p.cmd.Stderr = os.Stderr
	out, err := p.cmd.StdoutPipe()
	if err == nil {
		p.in, err = p.cmd.StdinPipe()
	}
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewReader(out)
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	if line, err := p.out.ReadString('\n'); line != "ready\n" {
		t.Fatalf("the child said %q, %v", line, err)
	}
	return p
}

// begin gives the child its input.
func (p *process) begin(input any) {
	p.t.Helper()
	line, err := json.Marshal(input)
	if err == nil {
		_, err = p.in.Write(append(line, '\n'))
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// said reads one line that the child printed before it ended.
func (p *process) said(v any) {
	p.t.Helper()
	line, err := p.out.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, v)
	}
	if err != nil {
		p.t.Fatalf("the child said %q: %v", line, err)
	}
}

// stop freezes the child, and returns when all of its threads stand: the signal alone lets them run
// on for a while.
func (p *process) stop() {
	err := p.cmd.Process.Signal(syscall.SIGSTOP)
	var status syscall.WaitStatus
	for err == nil && !status.Stopped() {
		if _, err = syscall.Wait4(p.cmd.Process.Pid, &status, syscall.WUNTRACED, nil); err == nil && (status.Exited() || status.Signaled()) {
			err = errors.New("it has ended")
		}
		if errors.Is(err, syscall.EINTR) {
			err = nil
		}
	}
	if err != nil {
		p.t.Errorf("stopping the child: %v", err)
	}
}

// kill ends the child with SIGKILL.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may be gone already
	_ = p.cmd.Wait()
}

// answer reads what the child returned, into v, and tells whether it lived to say it.
func (p *process) answer(v any) bool {
	p.t.Helper()
	line, err := p.out.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, v)
	}
	lived := p.cmd.Wait() == nil
	if lived && err != nil {
		p.t.Fatalf("the child said %q: %v", line, err)
	}
	return lived
}
