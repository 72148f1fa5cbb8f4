package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// What an entry of a diary says.
const (
	awake     = "awake"     // the process is there, and ends in order if it is asked to
	joined    = "joined"    // a node became a member, under the id in Value
	begun     = "begun"     // the body of a step began
	ended     = "ended"     // it returned
	cancelled = "cancelled" // it saw the end of its context
	started   = "started"   // a start was acknowledged to a client
	resulted  = "resulted"  // a result was, in Value
	signalled = "signalled" // a signal was, under the key in Value
	gone      = "gone"      // the store no longer knows a run whose start was acknowledged
	refused   = "refused"   // a call failed and was repeated; Value says why
	killed    = "killed"    // the stage is about to kill the process in Value
)

// entry is one line of a diary.
type entry struct {
	At    time.Time `json:"at"` // all processes are on one machine, so their clocks agree
	By    string    `json:"by"` // the process
	What  string    `json:"what"`
	Key   string    `json:"key,omitempty"`  // of the run
	Run   string    `json:"run,omitempty"`  // its id
	Step  int       `json:"step,omitempty"` // of the run, from 0
	Exec  string    `json:"exec,omitempty"` // of a body, drawn anew for each execution
	Value string    `json:"value,omitempty"`
}

// diary is what one process writes down about itself, in a file of its own. It is a witness that
// no fault of a database can change, and a line survives the death of its process, because the
// kernel has it when the write returns.
type diary struct {
	by string

	mu   sync.Mutex
	file *os.File
}

const diarySuffix = ".diary"

// openDiary opens the diary of a process in a folder. A process that was started again under its
// name goes on in the same diary.
func openDiary(dir, by string) (*diary, error) {
	file, err := os.OpenFile(filepath.Join(dir, by+diarySuffix), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	return &diary{by: by, file: file}, nil
}

// write adds an entry as of now. A diary that cannot be written proves nothing, so its process
// ends.
func (d *diary) write(e entry) {
	e.At, e.By = time.Now(), d.by
	line, err := json.Marshal(e)
	if err != nil {
		panic(err) // an entry holds texts and times
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, err := d.file.Write(append(line, '\n')); err != nil {
		panic(fmt.Sprintf("the diary of %s: %v", d.by, err))
	}
}

func (d *diary) close() error { return d.file.Close() }

// readDiaries reads the diaries of all processes that had their folder here.
func readDiaries(dir string) ([]entry, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*"+diarySuffix))
	if err != nil {
		return nil, err
	}
	var all []entry
	for _, name := range names {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		lines := bufio.NewScanner(file)
		for lines.Scan() {
			var e entry
			if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
				return nil, errors.Join(fmt.Errorf("%s: %w", name, err), file.Close())
			}
			all = append(all, e)
		}
		if err := errors.Join(lines.Err(), file.Close()); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return all, nil
}
