package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestKill runs the program as a process of its own and kills it in the middle of what it does: by
// SIGKILL, while a partner does what it was asked for, so that the answer is lost. Then another
// process goes on. In the end every trip is booked whole and entered once, or has left nothing.
//
// On Postgres that takes ten seconds and more, because the first process was alone: its runs wait
// for the end of its lease. Nobody is a suspect here, whom the engine would try for half a minute:
// that takes three dead owners, see docs/when-it-is-slow.md, and only two processes are killed. The
// limit is for a program that hangs.
func TestKill(t *testing.T) {
	for name, db := range databases(t) {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			w := &killer{partners: partners{booked: map[string]bool{}}, after: []int{7, 21}, called: make(chan struct{}, 1)}
			server := httptest.NewServer(w)
			defer server.Close()
			for w.lives() > 0 {
				p := start(ctx, t, db, server.URL)
				w.next(p)
				for i := range trips {
					if err := send(ctx, p.url, i); errors.Is(err, errAnswer) {
						t.Fatal(err)
					} else if err != nil { // it was killed
						break
					}
				}
				if err := p.wait(); ctx.Err() != nil || !p.killed() {
					t.Fatalf("the program was not killed in the middle of a request: %v, %v", err, ctx.Err())
				}
			}

			p := start(ctx, t, db, server.URL)
			for i := range trips { // again: each is booked once all the same
				if err := send(ctx, p.url, i); err != nil {
					t.Fatal(err)
				}
			}
			want := map[string]int{} // rows in the ledger
			for i := range trips {
				if status := receipt(ctx, t, p.url, i); status == http.StatusOK {
					want[tripID(i)] = 1
				} else if status != http.StatusUnprocessableEntity {
					t.Fatalf("trip %d: status %d", i, status)
				}
			}
			if len(want) != trips/2 { // of four trips one is refused, and one finds the hotel full
				t.Errorf("%d trips are booked: %v", len(want), want)
			}
			w.await(ctx, t, int64(len(want))*expensive)
			p.stop(t)
			audit(t, db, w, want)
		})
	}
}

const trips = 16

func tripID(i int) string { return fmt.Sprintf("trip-%d", i) }

// send books a trip and decides about it. Both may be repeated.
func send(ctx context.Context, url string, i int) error {
	id := tripID(i)
	trip := Trip{ID: id, Customer: fmt.Sprintf("customer-%d", i%3), Cents: expensive}
	if err := post(ctx, url+"/trips", trip); err != nil {
		return err
	}
	return post(ctx, url+"/trips/"+id+"/decision", Decision{By: "bob", OK: i%4 != 1})
}

// errAnswer says that the program answers, and not what it should.
var errAnswer = errors.New("wrong answer")

func post(ctx context.Context, url string, body any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	status, text, err := do(ctx, http.MethodPost, url, bytes.NewReader(data))
	if err == nil && status != http.StatusOK && status != http.StatusConflict { // it has ended already
		err = fmt.Errorf("%w of %s: %d, %s", errAnswer, url, status, text)
	}
	return err
}

func receipt(ctx context.Context, t *testing.T, url string, i int) (status int) {
	t.Helper()
	status, _, err := do(ctx, http.MethodGet, url+"/trips/"+tripID(i)+"/receipt", nil)
	if err != nil {
		t.Fatal(err)
	}
	return status
}

func do(ctx context.Context, method, url string, body io.Reader) (status int, text string, err error) {
	request, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		return 0, "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	return response.StatusCode, string(data), err
}

// audit compares the partners and the ledger with the trips that were booked.
func audit(t *testing.T, db string, w *killer, want map[string]int) {
	t.Helper()
	s, err := open(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	rows, err := s.db.QueryContext(t.Context(), `select trip from ledger`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	entered := map[string]int{}
	for rows.Next() {
		var trip string
		if err := rows.Scan(&trip); err != nil {
			t.Fatal(err)
		}
		entered[trip]++
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for i := range trips {
		id := tripID(i)
		if entered[id] != want[id] {
			t.Errorf("%s was entered %d times, want %d", id, entered[id], want[id])
		}
		for _, what := range []string{"flight/", "hotel/"} {
			if got := w.booked[what+id]; got != (want[id] == 1) {
				t.Errorf("%s%s: booked is %v", what, id, got)
			}
		}
	}
}

// killer is the partners, who kill the process that asks them, in the middle of the request.
type killer struct {
	partners
	lock   sync.Mutex
	calls  int
	after  []int // of how many calls a process dies next
	victim *process
	called chan struct{}
}

// lives is how many processes are still to die.
func (k *killer) lives() int {
	k.lock.Lock()
	defer k.lock.Unlock()
	return len(k.after)
}

// next makes a process the next one to die.
func (k *killer) next(p *process) {
	k.lock.Lock()
	defer k.lock.Unlock()
	k.victim = p
}

func (k *killer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	full := false
	if id, ok := strings.CutPrefix(r.URL.Path, "/hotel/trip-"); ok && r.Method == http.MethodPut {
		i, err := strconv.Atoi(id)
		full = err == nil && i%4 == 2
	}
	if full {
		http.Error(w, "full", http.StatusConflict)
	} else {
		k.partners.ServeHTTP(w, r)
	}
	k.lock.Lock()
	defer k.lock.Unlock()
	k.calls++
	if len(k.after) > 0 && k.victim != nil && k.calls >= k.after[0] {
		k.victim.kill()
		k.after, k.victim = k.after[1:], nil
	}
	select {
	case k.called <- struct{}{}:
	default:
	}
}

// await waits until statements of so many cents were sent.
func (k *killer) await(ctx context.Context, t *testing.T, want int64) {
	t.Helper()
	for {
		var sum int64
		k.mu.Lock()
		for path := range k.booked {
			if parts := strings.Split(path, "/"); parts[0] == "statement" {
				cents, _ := strconv.ParseInt(parts[3], 10, 64)
				sum += cents
			}
		}
		k.mu.Unlock()
		if sum == want {
			return
		}
		if sum > want {
			t.Fatalf("statements are about %d cents, want %d", sum, want)
		}
		select {
		case <-k.called:
		case <-ctx.Done():
			t.Fatalf("statements are about %d cents, want %d", sum, want)
		}
	}
}

// process is the program in a process of its own.
type process struct {
	cmd    *exec.Cmd
	url    string
	stderr bytes.Buffer
}

const childEnv = "TUTORIAL_ARGS"

// TestMain is the program itself in a child.
func TestMain(m *testing.M) {
	if args := os.Getenv(childEnv); args != "" {
		os.Args = append(os.Args[:1], strings.Split(args, "\n")...)
		main()
		return
	}
	os.Exit(m.Run())
}

func start(ctx context.Context, t *testing.T, db, partners string) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: exec.CommandContext(ctx, self)}
	args := []string{"-db", db, "-listen", "localhost:0", "-partners", partners, "-night", "1s"}
	p.cmd.Env = append(os.Environ(), childEnv+"="+strings.Join(args, "\n"))
	p.cmd.Stderr = &p.stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.kill()
		p.wait()
		if t.Failed() {
			t.Logf("a process logged:\n%s", &p.stderr)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if _, url, ok := strings.Cut(strings.TrimSpace(line), "listening on "); ok {
		p.url = url
		return p
	}
	p.wait()
	t.Fatalf("the program does not start: %v\n%s", err, &p.stderr)
	return nil
}

func (p *process) kill() { _ = p.cmd.Process.Kill() }

func (p *process) wait() error {
	if p.cmd.ProcessState != nil {
		return nil
	}
	return p.cmd.Wait()
}

// killed tells whether the process, which was waited for, ended by SIGKILL.
func (p *process) killed() bool {
	status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signal() == syscall.SIGKILL
}

// stop ends the process in order, as a deployment does.
func (p *process) stop(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := p.wait(); err != nil {
		t.Errorf("the program ended with %v\n%s", err, &p.stderr)
	}
}
