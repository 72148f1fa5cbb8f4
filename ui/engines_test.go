//go:build engines

package ui_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/ui/uitest"
)

// engine is a browser that is told what to do in a simpler way than Chromium. Chromium finds nearly
// all; that the others understand the pages too is asked once per release, by make engines.
type engine interface {
	open(url string) error
	// eval returns what an expression is.
	eval(expression string) (any, error)
	end()
}

// TestEngines opens every page of the navigation in Firefox and in WebKit, and pauses and resumes a
// queue there.
func TestEngines(t *testing.T) {
	for name, start := range map[string]func(*testing.T) engine{"firefox": startFirefox, "webkit": startWebKit} {
		t.Run(name, func(t *testing.T) {
			s := uitest.New(t, nil)
			s.Plant(t)
			s.PlantFlow(t)
			e := start(t)
			t.Cleanup(e.end)
			until := func(what string) {
				t.Helper()
				await(t, e, what)
			}
			if err := e.open(s.URL("")); err != nil {
				t.Fatal(err)
			}
			until(`document.querySelectorAll("nav a").length > 5`)
			pages, err := e.eval(`[...document.querySelectorAll("nav a")].map(a => a.href).join(" ")`)
			if err != nil {
				t.Fatal(err)
			}
			for _, page := range append(strings.Fields(pages.(string)), s.URL("runs/key=signal"), s.URL("workflows/order"), s.URL("schedule-times?cron=1+2+*+*+*")) {
				if err := e.open(page); err != nil {
					t.Fatal(err)
				}
				until(`document.querySelector("main h1") && !document.querySelector("[aria-busy=true]")`)
				if text, err := e.eval(`document.querySelector(".problem")?.innerText ?? ""`); err != nil || text != "" {
					t.Errorf("%s shows %v (%v)", page, text, err)
				}
				if text, err := e.eval(`getComputedStyle(document.body).backgroundColor + " " + (document.documentElement.scrollWidth <= innerWidth)`); err != nil || text != "rgb(251, 250, 247) true" {
					t.Errorf("%s has a ground of another colour, or is too wide: %v (%v)", page, text, err)
				}
			}
			if err := e.open(s.URL("queues")); err != nil {
				t.Fatal(err)
			}
			press := func(button string) string {
				return fmt.Sprintf(`(b => b && (b.click(), true))([...document.querySelectorAll("button")].find(b => (b.ariaLabel ?? b.textContent) === %q))`, button)
			}
			until(press("Pause default"))
			until(`document.querySelector("dialog[open]")?.contains(document.activeElement)`)
			until(press("Pause"))
			until(`document.querySelector(".notices li")`)
			until(press("Resume queue default"))
			until(press("Resume"))
			until(`!document.querySelector(".notices li") && !document.querySelector("dialog")`)
		})
	}
}

// await waits until an expression is true.
func await(t *testing.T, e engine, expression string) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.After(uitest.Patience); ; {
		v, err := e.eval("!!(" + expression + ")")
		if err == nil && v == true {
			return
		}
		select {
		case <-tick.C:
		case <-end:
			text, _ := e.eval("document.body.innerText")
			t.Fatalf("waited in vain until %s: %v\n%v", expression, err, text)
		}
	}
}

// child starts a program that ends with the test.
func child(t *testing.T, env []string, extra *os.File, program string, args ...string) (end func()) {
	t.Helper()
	c := exec.CommandContext(context.Background(), program, args...)
	c.Env = append(os.Environ(), env...)
	if extra != nil {
		c.ExtraFiles = []*os.File{extra}
	}
	if err := c.Start(); err != nil {
		t.Fatalf("start %s: %v; make engines installs it", program, err)
	}
	return func() {
		_ = c.Process.Signal(os.Interrupt)
		kill := time.AfterFunc(10*time.Second, func() { _ = c.Process.Kill() })
		_ = c.Wait()
		kill.Stop()
	}
}

// firefox is told by Marionette, which needs no program beside it: lists in JSON behind their
// lengths, over TCP.
type firefox struct {
	c    net.Conn
	r    *bufio.Reader
	last int
	stop func()
}

func startFirefox(t *testing.T) engine {
	t.Helper()
	profile := t.TempDir()
	const prefs = `user_pref("marionette.port", 0); user_pref("ui.systemUsesDarkTheme", 0); user_pref("layout.css.prefers-color-scheme.content-override", 1);`
	if err := os.WriteFile(filepath.Join(profile, "user.js"), []byte(prefs), 0o600); err != nil {
		t.Fatal(err)
	}
	f := &firefox{stop: child(t, []string{"HOME=" + profile}, nil, "firefox-esr", "--headless", "--marionette", "--no-remote", "--profile", profile)}
	t.Cleanup(func() { f.stop() })
	var port []byte
	for deadline := time.Now().Add(uitest.Patience); len(port) == 0; time.Sleep(20 * time.Millisecond) {
		port, _ = os.ReadFile(filepath.Join(profile, "MarionetteActivePort"))
		if time.Now().After(deadline) {
			t.Fatal("Firefox does not say where it listens")
		}
	}
	var err error
	if f.c, err = new(net.Dialer).DialContext(t.Context(), "tcp", "127.0.0.1:"+strings.TrimSpace(string(port))); err != nil {
		t.Fatal(err)
	}
	f.r = bufio.NewReader(f.c)
	if _, err := f.read(); err != nil { // it says who it is
		t.Fatal(err)
	}
	if _, err := f.do("WebDriver:NewSession", map[string]any{}); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *firefox) read() (text []byte, err error) {
	size, err := f.r.ReadString(':')
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(strings.TrimSuffix(size, ":"))
	if err != nil {
		return nil, err
	}
	text = make([]byte, n)
	_, err = io.ReadFull(f.r, text)
	return text, err
}

func (f *firefox) do(command string, args map[string]any) (any, error) {
	f.last++
	text, err := json.Marshal([]any{0, f.last, command, args})
	if err != nil {
		return nil, err
	}
	if _, err := fmt.Fprintf(f.c, "%d:%s", len(text), text); err != nil {
		return nil, err
	}
	text, err = f.read()
	if err != nil {
		return nil, err
	}
	var answer [4]any // 1, number, error, result
	if err := json.Unmarshal(text, &answer); err != nil {
		return nil, err
	}
	if answer[2] != nil {
		return nil, fmt.Errorf("%s: %v", command, answer[2])
	}
	result, _ := answer[3].(map[string]any)
	return result["value"], nil
}

func (f *firefox) open(url string) error {
	_, err := f.do("WebDriver:Navigate", map[string]any{"url": url})
	return err
}

func (f *firefox) eval(expression string) (any, error) {
	return f.do("WebDriver:ExecuteScript", map[string]any{"script": "return " + expression, "args": []any{}})
}

func (f *firefox) end() { _ = f.c.Close() }

// webkit is told by WebDriver, over HTTP.
type webkit struct {
	root, session string
	stops         []func()
}

// miniBrowser is where Debian has it.
const miniBrowser = "/usr/lib/*/webkit2gtk-4.1/MiniBrowser"

func startWebKit(t *testing.T) engine {
	t.Helper()
	w := &webkit{}
	r, number, err := os.Pipe() // it has no mode without a screen, so it gets one
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	w.stops = append(w.stops, child(t, nil, number, "Xvfb", "-displayfd", "3", "-screen", "0", "1280x800x24", "-nolisten", "tcp"))
	number.Close()
	display, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().(*net.TCPAddr).Port
	l.Close()
	w.root = fmt.Sprintf("http://127.0.0.1:%d/session", at)
	env := []string{"DISPLAY=:" + strings.TrimSpace(display), "HOME=" + t.TempDir(), "LIBGL_ALWAYS_SOFTWARE=1", "GTK_THEME=Adwaita:light"}
	w.stops = append(w.stops, child(t, env, nil, "WebKitWebDriver", "--port="+strconv.Itoa(at)))
	programs, _ := filepath.Glob(miniBrowser)
	if len(programs) == 0 {
		t.Fatalf("there is no %s: make engines installs it", miniBrowser)
	}
	options := map[string]any{"webkitgtk:browserOptions": map[string]any{"binary": programs[0], "args": []string{"--automation"}}}
	var answer any
	for deadline := time.Now().Add(uitest.Patience); ; time.Sleep(20 * time.Millisecond) {
		answer, err = w.post(w.root, map[string]any{"capabilities": map[string]any{"alwaysMatch": options}})
		if op := new(net.OpError); err == nil || !errors.As(err, &op) || time.Now().After(deadline) {
			break
		}
	}
	if err != nil {
		w.end()
		t.Fatal(err)
	}
	w.session = w.root + "/" + answer.(map[string]any)["sessionId"].(string)
	return w
}

func (w *webkit) post(url string, body any) (any, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, url, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Close = true
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var answer struct{ Value any }
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil || resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %v (%v)", resp.Status, answer.Value, err)
	}
	return answer.Value, nil
}

func (w *webkit) open(url string) error {
	_, err := w.post(w.session+"/url", map[string]any{"url": url})
	return err
}

func (w *webkit) eval(expression string) (any, error) {
	return w.post(w.session+"/execute/sync", map[string]any{"script": "return " + expression, "args": []any{}})
}

func (w *webkit) end() {
	if w.session != "" {
		if r, err := http.NewRequestWithContext(context.Background(), http.MethodDelete, w.session, nil); err == nil {
			r.Close = true
			if resp, err := http.DefaultClient.Do(r); err == nil {
				resp.Body.Close()
			}
		}
	}
	for i := len(w.stops) - 1; i >= 0; i-- {
		w.stops[i]()
	}
}
