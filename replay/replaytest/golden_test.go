package replaytest_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/replay/replaytest"
	"github.com/reprise-run/reprise/replay/workflow"
)

func TestGolden(t *testing.T) {
	var code replaytest.Registry
	replaytest.Handle(&code, review, reviewed, nil)
	replaytest.Golden(t, &code, keepTwo(t))
}

// keepTwo returns a folder with histories.
func keepTwo(t *testing.T) string {
	dir := t.TempDir()
	for name, script := range map[string]string{"answered": script, "sub/silent": "run review 1\ncompleted ask\nfired\ncompleted remind \"\""} {
		if err := replaytest.WriteFile(filepath.Join(dir, name+".json"), record(t, script)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// foldersEnv makes the test below its own child.
const foldersEnv = "REPRISE_GOLDEN"

// TestGoldenFails runs Golden in a child process, where it must fail and say why.
func TestGoldenFails(t *testing.T) {
	if dir := os.Getenv(foldersEnv); dir != "" {
		var code replaytest.Registry
		replaytest.Handle(&code, review, changed, nil)
		replaytest.Golden(t, &code, dir)
		return
	}
	dir := keepTwo(t)
	out := goldenFails(t, dir)
	for _, want := range []string{
		"FAIL: TestGoldenFails/answered", "FAIL: TestGoldenFails/sub/silent",
		filepath.Join(dir, "sub", "silent.json") + ": workflow review and its history differ at event 1 of 5, RunStarted",
		"history has  step ask", "code has     step query", changedLine,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
	if out := goldenFails(t, t.TempDir()); !strings.Contains(out, "no histories in") {
		t.Errorf("an empty folder:\n%s", out)
	}
	if out := goldenFails(t, filepath.Join(dir, "missing")); !strings.Contains(out, "no such file") {
		t.Errorf("a missing folder:\n%s", out)
	}
}

func goldenFails(t *testing.T, dir string) string {
	t.Helper()
	child := exec.Command(os.Args[0], "-test.run=^TestGoldenFails$")
	child.Env = append(os.Environ(), foldersEnv+"="+dir)
	out, err := child.CombinedOutput()
	if err == nil {
		t.Errorf("Golden passed:\n%s", out)
	}
	return string(out)
}

// changedLine is where changed asks for its step.
var changedLine = here(4)

// changed is reviewed after a careless change.
func changed(ctx workflow.Context, _ int) (string, error) {
	return workflow.Step(ctx, "query", func(context.Context) (string, error) { return "", nil }, nil)
}
