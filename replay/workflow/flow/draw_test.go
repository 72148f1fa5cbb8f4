package flow_test

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/replay/replaytest"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/replay/workflow/flow"
)

var update = flag.Bool("update", false, "write the pictures of testdata anew")

// picture is a flow of all kinds of nodes.
func picture() *flow.Flow[[]int] {
	inner := flow.New[[]int]("inner <flow>", nil)
	x := flow.Step(inner, "x", inner.Input(), pass, nil)
	flow.Step(inner, "y", x, pass, nil)
	f := flow.New[[]int]("picture", nil)
	in := f.Input()
	fetch := flow.Step(f, "fetch", in, pass, nil).Undo(func(context.Context, []int) error { return nil }, nil)
	each := flow.Map(f, "each", fetch, pass, nil)
	maybe := flow.Step(f, "maybe", in, pass, ifs(flow.Contains(flow.Apply(fetch, func(l []int) map[string]int { return map[string]int{"n": len(l)} }),
		map[string]any{"n": 2, "text": `"a" <b> #c`})))
	flow.Wait(f, "approved", workflow.Signal[string]("approved"), nil).After(each, maybe)
	flow.Sleep(f, "nap", time.Hour, nil).After(each)
	flow.Call(f, "other", in, workflow.Name[[]int, int]("w"), nil)
	flow.Nest(f, "sub", each, inner, nil)
	flow.Code(f, "code", in, func(workflow.Context, []int) (int, error) { return 0, nil }, nil)
	return f
}

// TestPictures compares pictures with files: of the flow before a run exists, and of a run.
func TestPictures(t *testing.T) {
	f := picture()
	var code replaytest.Registry
	replaytest.Handle(&code, f.Name(), f.Build(), nil)
	h, err := replaytest.Record(&code, "run picture [1,2]\ncompleted fetch [1,2]\ncompleted each [1]\ncompleted each [2]\nfired nap")
	if err != nil {
		t.Fatal(err)
	}
	s := f.Shape()
	st := s.State(h.Events)
	shape, _ := json.MarshalIndent(s, "", " ")
	state, _ := json.MarshalIndent(st.Nodes, "", " ")
	for name, got := range map[string]string{
		"shape.mmd": s.Mermaid(), "shape.dot": s.DOT(), "shape.json": string(shape) + "\n",
		"state.mmd": st.Mermaid(), "state.dot": st.DOT(), "state.json": string(state) + "\n",
	} {
		file := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil || got != string(want) {
			t.Errorf("%s (%v):\n%s", file, err, got)
		}
	}
	var read flow.Shape
	if err := json.Unmarshal(shape, &read); err != nil || read.Hash() != s.Hash() || read.Mermaid() != s.Mermaid() {
		t.Errorf("a shape that was stored is another one: %v", err)
	}
	if dot, err := exec.LookPath("dot"); err == nil { // where Graphviz is installed, it reads them
		for _, text := range []string{s.DOT(), st.DOT()} {
			cmd := exec.Command(dot, "-Tcanon")
			cmd.Stdin = strings.NewReader(text)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("dot: %v\n%s", err, out)
			}
		}
	}
}

// TestHistoriesOfReleases: what runs record is kept, so today's code replays the histories that
// earlier code has left. They are only added to; -update keeps those of today's picture if there
// are none.
func TestHistoriesOfReleases(t *testing.T) {
	f := picture()
	var code replaytest.Registry
	replaytest.Handle(&code, f.Name(), f.Build(), nil)
	const folder = "testdata/histories"
	for name, script := range map[string]string{
		"picture": "run picture [1,2]\nchild w 5\ncompleted fetch [1,2]\ncompleted each [1]\ncompleted each [2]\nfired nap\n" +
			"signal approved \"x\"\nchild \"inner <flow>\" {}",
		"picture-failed": "run picture [1,2]\nchild w 5\ncompleted fetch [1,2]\nfailed each broken! no\ncompleted each [2]\ncompleted \"undo fetch\"",
	} {
		if !*update {
			continue
		}
		h, err := replaytest.Record(&code, script)
		if err == nil {
			_, err = replaytest.Keep(filepath.Join(folder, name+".json"), h)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	replaytest.Golden(t, &code, folder)
}

// TestStateBeforeAndBeside: a run that has not begun waits, a history of another workflow has steps
// beside the shape.
func TestStateBeforeAndBeside(t *testing.T) {
	s := picture().Shape()
	for _, n := range s.State(nil).Nodes {
		if n.Status != flow.StatusWaiting {
			t.Errorf("before the start node %s is %s", n.Name, n.Status)
		}
	}
	h, err := replaytest.Record(variant(before).code(), recorded)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(s.State(h.Events).Beside, " "); got != "a b" {
		t.Errorf("beside the shape are %q", got)
	}
	if _, ok := flow.ShapeOf(h.Events[:1]); ok {
		t.Error("a run has a shape before a node has ended")
	}
}
