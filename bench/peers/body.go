package main

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Input of a run. Each step adds one to N, so the result must be N + Steps.
type Input struct {
	N     int64  `json:"n"`
	Steps int    `json:"steps"`
	Pad   string `json:"pad"`
}

// pad makes an input about 100 bytes of JSON.
var pad = strings.Repeat("p", 70)

func inputs(count, steps int) []Input {
	ins := make([]Input, count)
	for i := range ins {
		ins[i] = Input{N: int64(i), Steps: steps, Pad: pad}
	}
	return ins
}

func (in Input) check(result int64) error {
	if want := in.N + int64(in.Steps); result != want {
		return fmt.Errorf("run %d returned %d, want %d", in.N, result, want)
	}
	return nil
}

// Body is what the steps of every engine do. A process is one measurement, so there is one: engines register plain
// functions.
type Body struct {
	Steps int // of the runs of this measurement, where all have the same number
	Gate  int // a step with this index blocks for ever, if it is not 0
	Track int // how many runs are expected to show up, if it is not 0

	last    atomic.Int64 // executions of last steps
	blocked atomic.Int64

	mu    sync.Mutex
	seen  map[int64]bool // guarded by mu
	first time.Time      // when the first run showed up; guarded by mu
	all   time.Time      // when all had; guarded by mu
}

var body Body

// step is the body of step i of a run; v is the run's N + i.
func (b *Body) step(i int, v int64) int64 {
	if b.Track > 0 {
		b.track(v - int64(i))
	}
	if b.Gate > 0 && i == b.Gate {
		b.blocked.Add(1)
		select {}
	}
	if i == b.Steps-1 {
		b.last.Add(1)
	}
	return v + 1
}

func (b *Body) track(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.seen == nil {
		b.seen, b.first = map[int64]bool{}, time.Now()
	}
	if !b.seen[n] {
		b.seen[n] = true
		if len(b.seen) == b.Track {
			b.all = time.Now()
		}
	}
}

// shown returns how many runs have shown up, when the first did and when all had.
func (b *Body) shown() (runs int, first, all time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.seen), b.first, b.all
}
