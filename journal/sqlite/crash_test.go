package sqlite_test

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/sqlite"
)

// childEnv names the job of a child process, childPathEnv its file.
const (
	childEnv     = "REPRISE_TEST_CHILD"
	childPathEnv = "REPRISE_TEST_CHILD_PATH"
)

// jobs are those that come to an end by themselves.
var jobs = map[string]func(path string) error{}

// child does a job until it is killed. What it prints is what its callers were told.
func child(job, path string) int {
	fail := func(err error) int {
		fmt.Fprintln(os.Stderr, "child:", job, err)
		return 1
	}
	if do, ok := jobs[job]; ok {
		if err := do(path); err != nil {
			return fail(err)
		}
		return 0
	}
	ctx := context.Background()
	s, err := sqlite.Open(ctx, path, nil)
	if err != nil {
		return fail(err)
	}
	j := driver.New(s, nil)
	m, err := j.Join(ctx, journal.Node{Name: "child", Routes: []journal.Route{flowRoute}, Lease: time.Hour})
	if err != nil {
		return fail(err)
	}
	var mu sync.Mutex
	tell := func(a ack) {
		mu.Lock()
		defer mu.Unlock()
		_ = json.NewEncoder(os.Stdout).Encode(a)
	}
	tell(ack{})
	errs := make(chan error)
	for worker := range 8 {
		go func() {
			for n := 0; ; n++ {
				if err := live(ctx, j, m.ID(), worker%2 == 0, tell); err != nil {
					errs <- fmt.Errorf("worker %d, run %d: %w", worker, n, err)
				}
				if job == "own" {
					select {} // what it has is enough
				}
			}
		}()
	}
	return fail(<-errs)
}

// ack is what a caller was told: how far a run has come.
type ack struct {
	Run   journal.RunID
	Stage int // 1 started, 2 signalled, 3 first turn, 4 step with its effect, 5 closed
}

// live plays a run from its start to its end.
func live(ctx context.Context, j *driver.Journal, node journal.NodeID, inTx bool, tell func(ack)) error {
	out, err := j.Start(ctx, nil, []journal.Start{{Workflow: "flow", Owner: node}})
	if err != nil || !out[0].Owned {
		return fmt.Errorf("start: %v, %w", out, err)
	}
	run := out[0].Run
	tell(ack{run, 1})
	sent, err := j.Send(ctx, nil, []journal.Message{{Run: run, Kind: journal.MessageSignal, Name: "sig"}})
	if err != nil || sent[0].Err != nil {
		return fmt.Errorf("send: %v, %w", sent, err)
	}
	tell(ack{run, 2})
	first := sqlite.First(run, node, journal.Payload{}, keep, began)
	second := sqlite.Then(first, keep, stepDone)
	third := sqlite.Then(second, closing, journal.Event{Kind: journal.SignalReceived, Inbox: 1, Name: "sig"}, completed)
	for i, c := range []driver.Commit{first, second, third} {
		if i == 1 && inTx {
			if c.Tx, err = j.Begin(ctx); err != nil {
				return err
			}
			if _, err := c.Tx.Value().(*sql.Tx).ExecContext(ctx, `INSERT INTO effects VALUES (?)`, run.String()); err != nil {
				return err
			}
		}
		if out, err := j.Commit(ctx, []driver.Commit{c}); err != nil || out[0].Err != nil {
			return fmt.Errorf("commit %d: %v, %w", i, out, err)
		}
		tell(ack{run, i + 3})
	}
	return nil
}

// process is a child process.
type process struct {
	cmd *exec.Cmd
	out *bufio.Reader
}

// spawn starts a child and waits until it has the file and has joined.
func spawn(t *testing.T, job, path string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(os.Args[0])}
	p.cmd.Env = append(os.Environ(), childEnv+"="+job, childPathEnv+"="+path)
	p.cmd.Stderr = os.Stderr
	out, err := p.cmd.StdoutPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	p.out = bufio.NewReader(out)
	if p.next(t).Stage != 0 {
		t.Fatal("the child said something else than that it is ready")
	}
	return p
}

func (p *process) next(t *testing.T) (a ack) {
	t.Helper()
	line, err := p.out.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &a)
	}
	if err != nil {
		t.Fatalf("the child said %q: %v", line, err)
	}
	return a
}

// kill ends the child with SIGKILL and returns what it had still said.
func (p *process) kill(t *testing.T) (rest []ack) {
	t.Helper()
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for {
		line, err := p.out.ReadBytes('\n')
		var a ack
		if err == nil && json.Unmarshal(line, &a) == nil {
			rest = append(rest, a)
			continue
		}
		if !errors.Is(err, io.EOF) {
			t.Fatalf("the child said %q: %v", line, err)
		}
		_ = p.cmd.Wait() // it was killed
		return rest
	}
}

// TestJ10_KillLosesNothing: whenever a process is killed, the next one finds everything that
// callers were told, whole turns only, the effect of a step exactly with its event, and every run
// free to be claimed.
func TestJ10_KillLosesNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "reprise.db")
	w := &world{t: t, path: path, s: open(t, path, nil), db: database(t, path)}
	w.exec(`CREATE TABLE effects (what TEXT)`)
	for round := range 8 {
		told := map[journal.RunID]int{}
		w.s.Close()
		p := spawn(t, "work", path)
		acks := []ack{}
		for range 1 + round*round*10 { // from the first moments on to a log that has been copied
			acks = append(acks, p.next(t))
		}
		for _, a := range append(acks, p.kill(t)...) {
			told[a.Run] = max(told[a.Run], a.Stage)
		}
		if err := w.reopen(); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		w.audit(told)
		if t.Failed() {
			t.Fatalf("after round %d", round)
		}
	}
}

// audit compares what callers were told with what is there.
func (w *world) audit(told map[journal.RunID]int) {
	w.t.Helper()
	for run, stage := range told {
		if run.IsZero() {
			continue
		}
		h := w.history(run)
		events := []int{0, 0, 0, 1, 2, 4}[stage]
		if len(h.Events) < events || stage >= 2 && len(h.Inbox) == 0 && len(h.Events) < 4 || (stage == 5) && h.Run.Status != journal.Completed {
			w.t.Errorf("run %s: stage %d was acknowledged, found %d events, %d messages, %s (J10)",
				run, stage, len(h.Events), len(h.Inbox), h.Run.Status)
		}
		if closed := h.Run.Status == journal.Completed; closed != (len(h.Events) == 4) || closed == (h.Run.Task != nil) {
			w.t.Errorf("run %s: %s with %d events and task %+v (J2, J7)", run, h.Run.Status, len(h.Events), h.Run.Task)
		}
	}
	for what, query := range map[string]string{
		"owned tasks": `SELECT count(*) FROM reprise_tasks WHERE owner <> 0`,
		"nodes":       `SELECT count(*) FROM reprise_nodes`,
		"effects without an event": `SELECT count(*) FROM effects f WHERE NOT EXISTS (
			SELECT 1 FROM reprise_events e WHERE e.run_id = unhex(f.what, '-') AND e.generation = 1 AND e.seq = 2)`,
		"effects too many": `SELECT count(*) - count(DISTINCT what) FROM effects`,
		"open runs without a task": `SELECT count(*) FROM reprise_runs r WHERE (r.status = 0) <> EXISTS (
			SELECT 1 FROM reprise_tasks t WHERE t.run_id = r.id)`,
		"faults of the file": `SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'`,
	} {
		if n := w.count(query); n != 0 {
			w.t.Errorf("%d %s", n, what)
		}
	}
}

// TestSecondProcessIsToldWhoHasTheFile: and it has the file, with everything in it free, as soon as
// the holder is gone.
func TestSecondProcessIsToldWhoHasTheFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "reprise.db")
	w := &world{t: t, path: path, s: open(t, path, nil), db: database(t, path)}
	w.exec(`CREATE TABLE effects (what TEXT)`)
	w.s.Close()
	p := spawn(t, "own", path)
	var run journal.RunID
	for stage := 0; stage != 1; {
		a := p.next(t)
		run, stage = a.Run, a.Stage
	}
	_, err := sqlite.Open(t.Context(), path, nil)
	host, _ := os.Hostname()
	held, ok := errors.AsType[*sqlite.LockedError](err)
	if !ok || held.PID != p.cmd.Process.Pid || held.Host != host || time.Since(held.Since) > time.Hour || held.Path != path {
		t.Fatalf("got %v, want a LockedError that names process %d", err, p.cmd.Process.Pid)
	}
	p.kill(t)
	if err := w.reopen(); err != nil {
		t.Fatal(err)
	}
	h := w.history(run)
	if h.Run.Task == nil { // it had come to its end
		return
	}
	if h.Run.Task.Owner != 0 || h.Run.Task.VisibleAt.After(time.Now()) {
		t.Errorf("the task of a run whose process is gone: %+v", h.Run.Task)
	}
}
