// Package readmetest fails a test unless the README beside the code says what the code says.
package readmetest

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Code fails the test unless each block of Go in the README of a folder is, line by line, in a
// program of that folder. What encloses it may be indented further.
func Code(t *testing.T, dir string) {
	t.Helper()
	Document(t, filepath.Join(dir, "README.md"), dir)
}

// Document is Code for a document that stands elsewhere than its programs.
func Document(t *testing.T, document string, dirs ...string) {
	t.Helper()
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	programs := map[string]string{}
	for _, dir := range dirs {
		for name, program := range files(t, dir, "*.go") {
			programs[filepath.Join(dir, name)] = program
		}
	}
	blocks, strange := compare(string(text), programs)
	if blocks == 0 {
		t.Errorf("%s shows no code", document)
	}
	for _, b := range strange {
		t.Errorf("%s shows what no program in %q has:\n%s", document, dirs, b)
	}
}

// compare returns how many blocks of Go a document has, and those that are in no program.
func compare(document string, programs map[string]string) (blocks int, strange []string) {
	for _, b := range regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(document, -1) {
		blocks++
		found := false
		for _, text := range programs {
			found = found || strings.Contains("\n"+flat(text), "\n"+flat(b[1]))
		}
		if !found {
			strange = append(strange, b[1])
		}
	}
	return blocks, strange
}

// Lines fails the test unless each row of a table that begins with a link to a program ends with
// how long that is: its lines without comments, imports and empty ones. Each program that is not
// among others must have a row.
func Lines(t *testing.T, dir string, others ...string) {
	t.Helper()
	missing := map[string]int{}
	for name, text := range files(t, dir, "*.go") {
		if !strings.HasSuffix(name, "_test.go") {
			missing[name] = count(text)
		}
	}
	for _, name := range others {
		delete(missing, name)
	}
	for _, row := range regexp.MustCompile(`(?m)^\| \[[^]]*\]\(([a-z]+\.go)\) .*\| (\d+) \|$`).FindAllStringSubmatch(read(t, dir), -1) {
		if want, ok := missing[row[1]]; !ok {
			t.Errorf("the README has a row for %s, which is none of the programs, or a second one", row[1])
		} else if row[2] != strconv.Itoa(want) {
			t.Errorf("the README says that %s has %s lines, it has %d", row[1], row[2], want)
		}
		delete(missing, row[1])
	}
	for name := range missing {
		t.Errorf("the README has no row for %s", name)
	}
}

func read(t *testing.T, dir string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func files(t *testing.T, dir, pattern string) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(path)] = string(text)
	}
	return all
}

// flat is text without indents and empty lines.
func flat(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

func count(program string) (n int) {
	_, program, _ = strings.Cut(program, "\n)\n") // behind the imports
	for line := range strings.SplitSeq(flat(program), "\n") {
		if line != "" && !strings.HasPrefix(line, "//") {
			n++
		}
	}
	return n
}
