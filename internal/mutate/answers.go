package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// answer is what is kept of a trial: one line of JSON.
type answer struct {
	Mutant  string   `json:"mutant"`
	Verdict verdict  `json:"verdict"`
	By      []string `json:"by,omitempty"`    // the tests that noticed
	Tests   []string `json:"tests,omitempty"` // the tiers that ran
	Seconds float64  `json:"seconds"`
}

func (a answer) String() string {
	text := fmt.Sprintf("%-9s %4.0f s  %s", a.Verdict, a.Seconds, a.Mutant)
	if len(a.By) > 0 {
		text += "  (" + strings.Join(a.By, ", ") + ")"
	}
	return text
}

// readAnswers returns what a file keeps, by the name of the mutant. A last line that was not
// written to its end is left out: its mutant is tried again.
func readAnswers(name string) (map[string]answer, error) {
	known := map[string]answer{}
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return known, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var a answer
		if json.Unmarshal(lines.Bytes(), &a) == nil && a.Mutant != "" {
			known[a.Mutant] = a
		}
	}
	return known, lines.Err()
}

// keep appends an answer. One write is one line, so several processes may share the file.
func (a answer) keep(name string) error {
	line, err := json.Marshal(a)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

// summary counts answers.
func summary(answers []answer) string {
	count := map[verdict]int{}
	for i := range answers {
		count[answers[i].Verdict]++
	}
	counted := len(answers) - count[invalid]
	text := fmt.Sprintf("%d mutants: %d killed, %d timed out, %d survived", counted, count[killed], count[timedOut], count[survived])
	if counted > 0 {
		text += fmt.Sprintf(" (%.1f %%)", 100*float64(count[survived])/float64(counted))
	}
	return text + fmt.Sprintf("; %d more do not compile and are not counted", count[invalid])
}
