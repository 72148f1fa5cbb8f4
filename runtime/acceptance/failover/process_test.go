package main

import (
	"testing"
)

// TestAChildEndsWithItsParent: the end of its standard input is the death of its parent, even while
// it waits for a server that is away.
func TestAChildEndsWithItsParent(t *testing.T) {
	t.Parallel()
	for _, w := range []*work{nil, {Workflow: string(chain), Parallel: 1}} {
		p, err := launch(orders{Name: "orphan", Dir: t.TempDir(), DSN: "postgres://127.0.0.1:1/nowhere", Work: w})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.stdin.Close(); err != nil {
			t.Fatal(err)
		}
		<-p.ended
		if p.cmd.ProcessState.Success() {
			t.Error("the child ended as if it had been asked to")
		}
	}
}

// TestAChildThatIsAskedEndsInOrder: a deployment may end a process before its server is there.
func TestAChildThatIsAskedEndsInOrder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p, err := launch(orders{Name: "early", Dir: dir, DSN: "postgres://127.0.0.1:1/nowhere"})
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{dir: dir}
	if err := s.until(t.Context(), "a diary", func(entries []entry) bool { return count(entries, awake) == 1 }); err != nil {
		t.Fatal(err)
	}
	p.ask()
	if err := p.wait(t.Context(), drainMax); err != nil {
		t.Error(err)
	}
}
