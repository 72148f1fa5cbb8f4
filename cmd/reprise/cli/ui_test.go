package cli_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/cmd/reprise/cli"
)

// served is a dashboard of the command, as a process.
type served struct {
	t    *testing.T
	root string
	end  func() error // interrupts it
}

func serveUI(t *testing.T, store string, args ...string) *served {
	t.Helper()
	cmd := command(t, store, append([]string{"ui", "--listen", "127.0.0.1:0"}, args...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "http://127.0.0.1:") {
		t.Fatalf("it says %q, %v", line, err)
	}
	return &served{t, strings.TrimSpace(line), func() error {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			return err
		}
		return cmd.Wait()
	}}
}

// ask calls the dashboard under a host's name, its own if that is empty.
func (s *served) ask(method, path, host, body string) (int, string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, s.root+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Host = host
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// TestUI: the command serves pages and the API, executes bulk jobs, and ends when it is interrupted,
// also while a stream is open.
func TestUI(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, store string) {
		plant(t, store)
		s := serveUI(t, store, "--title", "the shop's")
		if code, text := s.ask(http.MethodGet, "runs", "", ""); code != http.StatusOK || !strings.Contains(text, "<title>the shop&#39;s</title>") {
			t.Errorf("a page: %d %s", code, text)
		}
		if code, text := s.ask(http.MethodGet, "api/queues", "", ""); code != http.StatusOK || !strings.Contains(text, "demo.parcel") {
			t.Errorf("the queues: %d %s", code, text)
		}
		var job struct{ Run string }
		code, text := s.ask(http.MethodPost, "api/bulk", "", `{"verb": "terminate", "where": "demo = \"timer\"", "reason": "it is enough"}`)
		if err := json.Unmarshal([]byte(text), &job); code != http.StatusAccepted || err != nil {
			t.Fatalf("a job: %d %s", code, text)
		}
		if _, text := s.ask(http.MethodGet, "api/runs/"+job.Run+"/events", "", ""); !strings.Contains(text, "event: end") { // with the job
			t.Errorf("the stream of the job: %s", text)
		}
		if _, text := s.ask(http.MethodGet, "api/audit?limit=1", "", ""); !strings.Contains(text, "it is enough") || !strings.Contains(text, "by reprise ui") {
			t.Errorf("the audit: %s", text)
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.root+"api/events", nil)
		if err != nil {
			t.Fatal(err)
		}
		stream, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer stream.Body.Close()
		if err := s.end(); err != nil {
			t.Errorf("it ends with %v", err)
		}
	})
}

// TestUIIsSafe: read-only it writes nothing, also beside a program that has the file open; it is not
// called by another name; and others reach it only if that is said.
func TestUIIsSafe(t *testing.T) {
	t.Parallel()
	store := filepath.Join(t.TempDir(), "runs.db")
	plant(t, store)
	s := serveUI(t, store, "--read-only", "--hide-inputs")
	if code, text := s.ask(http.MethodPost, "api/runs", "", `{"workflow": "x"}`); code != http.StatusForbidden || !strings.Contains(text, "read-only") {
		t.Errorf("a start: %d %s", code, text)
	}
	if _, text := s.ask(http.MethodGet, "api/runs/key=demo:failed", "", ""); strings.Contains(text, "Main Street") {
		t.Errorf("an input is shown: %s", text)
	}
	for host, want := range map[string]int{"": http.StatusOK, "localhost:1": http.StatusOK, "[::1]": http.StatusOK, "evil.example": http.StatusForbidden, "evil.example:8080": http.StatusForbidden} {
		if code, text := s.ask(http.MethodGet, "api/runs?limit=1", host, ""); code != want {
			t.Errorf("as %q: %d %s", host, code, text)
		}
	}
	if err := s.end(); err != nil {
		t.Errorf("it ends with %v", err)
	}
	got := reprise(t, store, cli.ExitUsage, "ui", "--listen", "0.0.0.0:0")
	wantText(t, "an address of everybody", got.err, "--unprotected")
	got = reprise(t, store, cli.ExitUsage, "ui", "--listen", "nowhere")
	wantText(t, "a wrong address", got.err, "--listen")
}
