package replay

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/reprise-run/reprise/journal"
)

// TestOpenList compares the window with a map, and checks that it stays as small as what is open.
func TestOpenList(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var l openList
	open := map[journal.Cmd]*Command{}
	var numbers []journal.Cmd
	for range 20_000 {
		switch n := rng.IntN(10); {
		case n < 2:
			l.add(nil)
		case n < 6 && len(numbers) < 50:
			c := &Command{kind: journal.CommandStep}
			c.cmd = l.add(c)
			open[c.cmd] = c
			numbers = append(numbers, c.cmd)
		case len(numbers) > 0:
			i := rng.IntN(min(len(numbers), 3)) // mostly the oldest
			l.remove(numbers[i])
			delete(open, numbers[i])
			numbers = append(numbers[:i], numbers[i+1:]...)
		}
		probe := journal.Cmd(rng.IntN(int(l.last)+3) - 1)
		if got := l.find(probe); got != open[probe] {
			t.Fatalf("find %d of %d: %v, want %v", probe, l.last, got, open[probe])
		}
	}
	steps := l.steps()
	if len(steps) != len(numbers) {
		t.Fatalf("%d open steps, want %d", len(steps), len(numbers))
	}
	for i, c := range steps {
		if c.cmd != numbers[i] {
			t.Errorf("open step %d is %d, want %d", i, c.cmd, numbers[i])
		}
	}
	if l.window.Len() > 1000 {
		t.Errorf("the window is %d long for %d open commands", l.window.Len(), len(numbers))
	}
}

func TestSignalQueueOrder(t *testing.T) {
	m := &Machine{}
	sent, got := 0, 0
	for sent < 5000 {
		for range 3 {
			m.env.deliver(&journal.Event{Name: "s", Payload: journal.Payload{Data: fmt.Append(nil, sent)}})
			sent++
		}
		b := m.env.SignalQueue("s")
		for range 2 {
			if data := string(b.Pop().Data); data != fmt.Sprint(got) {
				t.Fatalf("got %s, want %d", data, got)
			}
			got++
		}
	}
	if n := m.env.SignalQueue("s").Len(); n != sent-got {
		t.Errorf("%d are left, want %d", n, sent-got)
	}
}
