package ui_test

import (
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/ui"
)

// client returns a client of an empty store in memory.
func client(t testing.TB) *runtime.Client {
	t.Helper()
	s := memory.New(nil)
	t.Cleanup(s.Close)
	return runtime.NewClient(journal.New(s, nil), nil)
}

// mounts are ways in which routers hand over requests: with the prefix stripped, or with the whole
// path.
func mounts(c *runtime.Client) map[string]http.Handler {
	stripped := http.NewServeMux()
	stripped.Handle("/ops/reprise/", http.StripPrefix("/ops/reprise", ui.New(c, nil)))
	stripped.Handle("/ops/reprise", http.StripPrefix("/ops/reprise", ui.New(c, nil)))
	whole := ui.New(c, &ui.Options{Prefix: "/my app"})
	return map[string]http.Handler{
		"/":             ui.New(c, nil),
		"/ops/reprise/": stripped,
		"/my%20app/": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { // as gorilla's PathPrefix and chi's Mount
			if r.URL.Path != "/my app" && !strings.HasPrefix(r.URL.Path, "/my app/") {
				http.NotFound(w, r)
				return
			}
			whole.ServeHTTP(w, r)
		}),
	}
}

// get asks a server, and follows no redirect.
func get(t testing.TB, address string) (*http.Response, string) {
	t.Helper()
	c := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(text)
}

var (
	basePattern = regexp.MustCompile(`<base href="([^"]*)">`)
	linkPattern = regexp.MustCompile(`(?:src|href)="(assets/[^"]*)"`)
)

// TestMounted: under every prefix a page of any depth finds its assets and the API.
func TestMounted(t *testing.T) {
	t.Parallel()
	for prefix, h := range mounts(client(t)) {
		server := httptest.NewServer(h)
		defer server.Close()
		for _, path := range []string{"", "runs", "runs/0198", "runs/key=a%2Fb", "workflows/a%20b%2F/x/y"} {
			at, err := url.Parse(server.URL + prefix + path)
			if err != nil {
				t.Fatal(err)
			}
			resp, text := get(t, at.String())
			base := basePattern.FindStringSubmatch(text)
			if resp.StatusCode != http.StatusOK || base == nil {
				t.Fatalf("%s: status %d, %s", at, resp.StatusCode, text)
			}
			root, err := at.Parse(base[1])
			if err != nil || root.EscapedPath() != prefix {
				t.Errorf("%s has the base %q, which is %s", at, base[1], root)
			}
			links := linkPattern.FindAllStringSubmatch(text, -1)
			if len(links) != 4 {
				t.Errorf("%s has the assets %q", at, links)
			}
			for _, l := range links {
				address, err := root.Parse(l[1])
				if err != nil {
					t.Fatal(err)
				}
				if resp, _ := get(t, address.String()); resp.StatusCode != http.StatusOK || !strings.Contains(resp.Header.Get("Cache-Control"), "immutable") {
					t.Errorf("%s: status %d, %v", address, resp.StatusCode, resp.Header)
				}
			}
			api, err := root.Parse("api/runs")
			if err != nil {
				t.Fatal(err)
			}
			if resp, text := get(t, api.String()); resp.StatusCode != http.StatusOK || text != "{\"runs\":[]}\n" {
				t.Errorf("%s: status %d, %q", api, resp.StatusCode, text)
			}
		}
		if prefix == "/" {
			continue
		}
		bare := strings.TrimSuffix(prefix, "/")
		resp, _ := get(t, server.URL+bare+"?where=x")
		to, err := resp.Location()
		if err != nil || to.EscapedPath() != prefix || to.RawQuery != "where=x" {
			t.Errorf("%s leads to %v (%v)", bare, to, err)
		}
	}
}

// TestHeaders: a page may load and call what is here and nothing else, and is in no other's frame.
func TestHeaders(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(ui.New(client(t), &ui.Options{Title: `"><script>x</script>`}))
	defer server.Close()
	for _, path := range []string{"/", "/runs", "/assets/none.js", "/a//b"} {
		resp, text := get(t, server.URL+path)
		policy := resp.Header.Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'self';", "frame-ancestors 'none'", "base-uri 'self'", "require-trusted-types-for 'script'"} {
			if !strings.Contains(policy, part) {
				t.Errorf("%s: the policy %q lacks %s", path, policy, part)
			}
		}
		if strings.Contains(policy, "unsafe") || resp.Header.Get("X-Content-Type-Options") != "nosniff" || resp.Header.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("%s: %v", path, resp.Header)
		}
		if strings.Contains(text, "<script>") || strings.Contains(text, "<style") || strings.Contains(text, "style=") {
			t.Errorf("%s has something inline: %s", path, text)
		}
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/runs", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusMethodNotAllowed || resp.Header.Get("Allow") != "GET, HEAD" {
		t.Errorf("POST of a page: %d %v", resp.StatusCode, resp.Header)
	}
}

// scriptMax is what a page may load of scripts, compressed.
const scriptMax = 150 << 10

// TestAssets: assets come compressed to whoever takes that, and are small.
func TestAssets(t *testing.T) {
	t.Parallel()
	h := ui.New(client(t), nil)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
	total := 0
	for _, l := range linkPattern.FindAllStringSubmatch(w.Body.String(), -1) {
		plain, squeezed := asset(h, l[1], "br, gzip;q=0"), asset(h, l[1], "br;q=1, gzip")
		r, err := gzip.NewReader(squeezed.Body)
		if err != nil {
			t.Fatalf("%s: %v, %v", l[1], err, squeezed.Header())
		}
		size := squeezed.Header().Get("Content-Length")
		if strings.HasSuffix(l[1], ".js") {
			total += squeezed.Body.Len()
		}
		text, err := io.ReadAll(r)
		if err != nil || string(text) != plain.Body.String() || len(text) == 0 || squeezed.Header().Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s: %v, %d bytes of %s are not the same as %d", l[1], err, len(text), size, plain.Body.Len())
		}
	}
	if total == 0 || total > scriptMax {
		t.Errorf("the scripts are %d bytes, at most %d", total, scriptMax)
	}
	t.Logf("scripts: %d bytes compressed", total)
}

func asset(h http.Handler, path, accept string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(context.Background(), http.MethodGet, "/"+path, nil)
	r.Header.Set("Accept-Encoding", accept)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}
