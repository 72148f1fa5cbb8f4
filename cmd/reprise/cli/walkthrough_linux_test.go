package cli_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// walkthrough is a part of a page that is executed as it is written: what somebody types in the
// blocks called console, what that prints, and what happens meanwhile.
type walkthrough struct {
	title string
	acts  []act
}

// act is a line that is typed, behind a $, or one that says what happens, behind a #.
type act struct {
	at    string // where it stands
	typed bool
	text  string
	says  []string // what is printed, a line each
}

// elided stands for what is not the same each time: a part of a line, or lines.
const elided = "…"

// readWalkthroughs returns the parts of a page that have something to execute, by their headings.
func readWalkthroughs(t *testing.T, page string) (list []walkthrough) {
	t.Helper()
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	console := false
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		line = strings.TrimRight(line, "\n")
		if !console {
			if title, ok := strings.CutPrefix(line, "## "); ok {
				list = append(list, walkthrough{title: title})
			}
			console = line == "```console"
			continue
		}
		if line == "```" {
			console = false
			continue
		}
		if len(list) == 0 {
			t.Fatalf("%s:%d: a block stands before the first heading", page, n)
		}
		w := &list[len(list)-1]
		at := fmt.Sprintf("%s:%d", filepath.Base(page), n)
		if text, ok := strings.CutPrefix(line, "$ "); ok {
			w.acts = append(w.acts, act{at: at, typed: true, text: text})
		} else if text, ok := strings.CutPrefix(line, "# "); ok {
			w.acts = append(w.acts, act{at: at, text: text})
		} else if len(w.acts) == 0 {
			t.Fatalf("%s: nobody has typed anything that prints this", at)
		} else {
			last := &w.acts[len(w.acts)-1]
			last.says = append(last.says, line)
		}
	}
	return slices.DeleteFunc(list, func(w walkthrough) bool { return len(w.acts) == 0 })
}

// differs compares what was printed with what the page says, and returns the first line of either
// that the other does not have, empty if there is none. The width of gaps does not count.
func differs(says, printed []string) string {
	for len(says) > 0 && len(printed) > 0 {
		if says[0] == elided {
			for rest := printed; ; rest = rest[1:] {
				if differs(says[1:], rest) == "" {
					return ""
				}
				if len(rest) == 0 {
					return fmt.Sprintf("behind %q nothing is printed as the page says", printed[0])
				}
			}
		}
		if !lineIs(says[0], printed[0]) {
			return fmt.Sprintf("the page says %q, printed is %q", says[0], printed[0])
		}
		says, printed = says[1:], printed[1:]
	}
	says = slices.DeleteFunc(slices.Clone(says), func(s string) bool { return s == elided })
	switch {
	case len(says) > 0:
		return fmt.Sprintf("the page says %q, and nothing more is printed", says[0])
	case len(printed) > 0:
		return fmt.Sprintf("printed is %q, and the page says nothing more", printed[0])
	}
	return ""
}

func lineIs(says, printed string) bool {
	words := regexp.QuoteMeta(strings.Join(strings.Fields(says), " "))
	pattern := "^" + strings.ReplaceAll(words, regexp.QuoteMeta(elided), ".*") + "$"
	return regexp.MustCompile(pattern).MatchString(strings.Join(strings.Fields(printed), " "))
}

// shell is where an operator types. What is exported stays so for what is typed later.
type shell struct {
	dir     string
	env     []string
	exports []string
}

// newShell returns a shell in a folder of its own that finds the command, and the command of a
// program with the code of shop.
func newShell(t *testing.T, env ...string) *shell {
	t.Helper()
	bin, err := filepath.Abs(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	path := t.TempDir()
	for name, program := range map[string]string{"reprise": "reprise", "shop": "shop"} {
		script := fmt.Sprintf("#!/bin/sh\n%s=%s exec '%s' \"$@\"\n", programEnv, program, bin)
		if err := os.WriteFile(filepath.Join(path, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	env = append(env, "LC_ALL=C", "PSQLRC=/dev/null", "PATH="+path+string(filepath.ListSeparator)+os.Getenv("PATH"))
	return &shell{dir: t.TempDir(), env: env}
}

// execute types a line, and compares what it prints. A failure must be a part of what the page says.
func (s *shell) execute(t *testing.T, a act) {
	t.Helper()
	if strings.HasPrefix(a.text, "export ") {
		s.exports = append(s.exports, a.text)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", strings.Join(append(slices.Clone(s.exports), a.text), "\n"))
	cmd.Dir, cmd.Env = s.dir, append(os.Environ(), s.env...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // what the shell has started ends with it
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	err := cmd.Run()
	if ctx.Err() != nil {
		t.Fatalf("%s: %s: it does not end; so far it has printed\n%s", a.at, a.text, out.String())
	}
	failure := new(exec.ExitError)
	if err != nil && !errors.As(err, &failure) {
		t.Fatalf("%s: %v", a.at, err)
	}
	var printed []string
	for line := range strings.Lines(out.String()) {
		printed = append(printed, strings.TrimRight(line, "\n"))
	}
	says := slices.DeleteFunc(slices.Clone(a.says), func(l string) bool { return l == "" })
	printed = slices.DeleteFunc(printed, func(l string) bool { return l == "" })
	if d := differs(says, printed); d != "" {
		t.Fatalf("%s: %s: %s; all of it is\n%s", a.at, a.text, d, out.String())
	}
	told := slices.ContainsFunc(a.says, func(l string) bool { return strings.HasPrefix(l, "reprise: ") || strings.HasPrefix(l, "shop: ") })
	if (err != nil) != told {
		t.Fatalf("%s: %s: ends with %v, and the page says %q", a.at, a.text, err, a.says)
	}
}

// walk executes a part of a page. meanwhile has what happens, by the page's words; all of it has to.
func walk(t *testing.T, w walkthrough, s *shell, meanwhile map[string]func()) {
	t.Helper()
	left := maps.Clone(meanwhile)
	for _, a := range w.acts {
		if a.typed {
			s.execute(t, a)
			continue
		}
		happen := left[a.text]
		if happen == nil {
			t.Fatalf("%s: nobody knows how it happens that %q", a.at, a.text)
		}
		delete(left, a.text)
		happen()
	}
	for text := range left {
		t.Errorf("%s: the page does not say any more that %q", w.title, text)
	}
}

// TestDiffers: what a page says is compared line by line, and what it leaves out is marked.
func TestDiffers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		says, printed string
		same          bool
	}{
		{"a|b", "a|b", true},
		{"a|b", "a", false},
		{"a", "a|b", false},
		{"", "a", false},
		{"a  b", "a     b", true},
		{"run … is open", "run 7 is open", true},
		{"run … is open", "run 7 is closed", false},
		{"a.c", "abc", false},
		{"a|…|d", "a|b|c|d", true},
		{"a|…|d", "a|d", true},
		{"a|…|d", "a|b|c", false},
		{"…|b", "a|b|b", true},
		{"a|…", "a|b", true},
		{"a|…", "a", true},
		{"…", "", true},
	} {
		lines := func(text string) []string {
			return slices.DeleteFunc(strings.Split(text, "|"), func(l string) bool { return l == "" })
		}
		if d := differs(lines(c.says), lines(c.printed)); (d == "") != c.same {
			t.Errorf("%q and %q: %q", c.says, c.printed, d)
		}
	}
}
