package flow_test

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/replay/workflow/flow"
)

// TestCycles: cycles of any length are named by all their nodes, several at once, and only they.
func TestCycles(t *testing.T) {
	for _, length := range []int{1, 2, 3, 50, 5000} {
		f := flow.New[int]("tested", nil)
		first := flow.Step(f, "n0", f.Input(), pass, nil)
		last := first
		want := "n0"
		for i := 1; i < length; i++ {
			last = flow.Step(f, fmt.Sprint("n", i), last, pass, nil)
			want += fmt.Sprint(" → n", i)
		}
		flow.Step(f, "innocent", last, pass, nil)
		first.After(last)
		err := f.Check()
		if want = "flow tested cannot run: nodes wait for each other: " + want + " → n0"; err == nil || err.Error() != want {
			t.Errorf("a cycle of %d nodes: %.200v", length, err)
		}
	}
	f := flow.New[int]("tested", nil)
	nodes := map[string]*flow.Node[int]{}
	for _, n := range strings.Split("abcdefg", "") {
		nodes[n] = flow.Step(f, n, f.Input(), pass, nil)
	}
	for _, e := range []string{"ab", "bc", "ca", "cb", "cd", "de", "ed", "fa", "eg"} {
		nodes[e[1:]].After(nodes[e[:1]])
	}
	want := "flow tested cannot run: nodes wait for each other: a → b → c → a; nodes wait for each other: d → e → d"
	if err := f.Check(); err == nil || err.Error() != want {
		t.Errorf("two cycles: %v", err)
	}
}

// TestCyclesAmongMany: random graphs have a cycle exactly if a topological order does not exist.
func TestCyclesAmongMany(t *testing.T) {
	found := 0
	for seed := range 300 {
		r := rand.New(rand.NewSource(int64(seed)))
		f := flow.New[int]("tested", nil)
		n := 2 + r.Intn(8)
		nodes, waits := make([]*flow.Node[int], n), make([][]bool, n)
		for i := range n {
			nodes[i], waits[i] = flow.Step(f, fmt.Sprint("n", i), f.Input(), pass, nil), make([]bool, n)
		}
		for range r.Intn(2 * n) {
			a, b := r.Intn(n), r.Intn(n)
			nodes[a].After(nodes[b])
			waits[a][b] = true
		}
		left := n
		for gone := make([]bool, n); ; {
			took := false
			for i := range n {
				free := !gone[i]
				for j := range n {
					free = free && (!waits[i][j] || gone[j])
				}
				if free {
					gone[i], took, left = true, true, left-1
				}
			}
			if !took {
				break
			}
		}
		err := f.Check()
		if (err != nil) != (left > 0) {
			t.Errorf("seed %d: %d nodes have no place in an order, and Check says %v", seed, left, err)
		}
		if err != nil {
			found++
			for _, p := range err.(*flow.DeclarationError).Problems {
				checkWay(t, seed, p, waits)
			}
		}
	}
	if found < 50 || found > 250 {
		t.Errorf("%d of 300 graphs have cycles: the test sees too few of one kind", found)
	}
}

// checkWay follows a cycle edge by edge.
func checkWay(t *testing.T, seed int, problem string, waits [][]bool) {
	t.Helper()
	way := strings.Split(strings.TrimPrefix(problem, "nodes wait for each other: "), " → ")
	if way[0] != way[len(way)-1] {
		t.Errorf("seed %d: %s is no cycle", seed, problem)
	}
	for i := 1; i < len(way); i++ {
		var a, b int
		if _, err := fmt.Sscanf(way[i-1]+" "+way[i], "n%d n%d", &a, &b); err != nil || !waits[b][a] {
			t.Errorf("seed %d: %s: %s does not wait for %s", seed, problem, way[i], way[i-1])
		}
	}
}
