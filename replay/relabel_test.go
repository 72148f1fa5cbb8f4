package replay_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
)

// labelled are the changes of a decision.
func labelled(changes map[string]*string) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		if value := changes[name]; value != nil {
			list = append(list, name+"="+*value)
		} else {
			list = append(list, "-"+name)
		}
	}
	return strings.Join(list, " ")
}

// TestSetLabels: a decision has the changes of its turn alone; the history has none of them, replay
// changes nothing, and code goes on to see the labels of the start.
func TestSetLabels(t *testing.T) {
	def := define(func(c ctx) (string, error) {
		workflow.SetLabels(c, map[string]string{"a": "0", "b": "0"})
		for i := 1; ; i++ {
			v, err := approved.Receive(c)
			if len(c.Info().Labels) != 0 {
				t.Errorf("code sees %v", c.Info().Labels)
			}
			if err != nil || v == "end" {
				workflow.RemoveLabels(c, "a", "a", "never")
				return "", err
			}
			if v != "quiet" {
				workflow.SetLabels(c, map[string]string{"a": "early"})
				workflow.SetLabels(c, map[string]string{"a": fmt.Sprint(i), "c": v})
				workflow.RemoveLabels(c, "c")
			}
			workflow.SetLabels(c, nil)
			workflow.RemoveLabels(c)
		}
	})
	r := newRig(def)
	defer r.m.Close()
	var got []string
	mustStep(t, r, started())
	got = append(got, labelled(r.m.Take().Labels))
	for n, v := range []string{"x", "quiet", "end"} {
		mustStep(t, r, signalOf(journal.InboxSeq(n+1), "approved", fmt.Sprintf("%q", v)))
		got = append(got, labelled(r.m.Take().Labels))
	}
	want := []string{"a=0 b=0", "a=1 -c", "", "-a -never"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, ev := range r.history {
		if len(ev.Issued) > 0 {
			t.Errorf("event %d issued %v", ev.Seq, ev.Issued)
		}
	}
	checkPrefixes(t, def, r.history)

	again := newRig(def)
	defer again.m.Close()
	for i := range r.history[:3] {
		if err := again.m.Replay(&r.history[i]); err != nil {
			t.Fatal(err)
		}
	}
	if got := labelled(again.m.Take().Labels); got != "" {
		t.Errorf("a replay changes %s", got)
	}
	mustStep(t, again, signalOf(3, "approved", `"end"`))
	if got := labelled(again.m.Take().Labels); got != "-a -never" {
		t.Errorf("after a replay: %s", got)
	}
}

// TestSetLabelsLimits: too many labels, counted with those that the run has, stop the machine with
// the line; labels that no run may have are refused where they are set.
func TestSetLabelsLimits(t *testing.T) {
	full := map[string]string{}
	for i := range journal.LabelsMax {
		full[fmt.Sprint(i)] = ""
	}
	set := func(labels map[string]string) func(ctx) {
		return func(c ctx) { workflow.SetLabels(c, labels) }
	}
	for name, c := range map[string]struct {
		code func(ctx)
		want string
	}{
		"many":    {set(map[string]string{"x": ""}), "labels of the run at "},
		"removed": {func(c ctx) { workflow.RemoveLabels(c, "0"); set(map[string]string{"x": ""})(c) }, ""},
		"over":    {set(map[string]string{"0": "1"}), ""},
	} {
		r := newRig(define(func(x ctx) (string, error) { c.code(x); return "", nil }))
		r.m.SetShown(nil, full)
		_, err := r.step(started())
		if (err == nil) != (c.want == "") || err != nil && (!errors.Is(err, journal.ErrInvalid) ||
			!strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "relabel_test.go")) {
			t.Errorf("%s: %v", name, err)
		}
		r.m.Close()
	}
	r := newRig(define(func(c ctx) (string, error) {
		for what, labels := range map[string]map[string]string{
			"an empty name": {"": "x"}, "a long value": {"x": strings.Repeat("x", journal.LabelValueBytesMax+1)}, "a control character": {"a\n": ""},
		} {
			func() {
				defer func() {
					if err, _ := recover().(error); !errors.Is(err, journal.ErrInvalid) {
						t.Errorf("%s: %v", what, err)
					}
				}()
				workflow.SetLabels(c, labels)
			}()
		}
		for what, name := range map[string]string{"no name": "", "a control character": "a\n", "a long name": strings.Repeat("x", journal.LabelKeyBytesMax+1)} {
			func() {
				defer func() {
					if err, _ := recover().(error); !errors.Is(err, journal.ErrInvalid) {
						t.Errorf("%s is removed: %v", what, err)
					}
				}()
				workflow.RemoveLabels(c, "fine", name)
			}()
		}
		return "", nil
	}))
	defer r.m.Close()
	mustStep(t, r, started())
}

// TestSetLabelsIsRefused in code that may only read.
func TestSetLabelsIsRefused(t *testing.T) {
	r := newRig(define(func(c ctx) (string, error) {
		sumOf.Handle(c, func(int) (int, error) { workflow.RemoveLabels(c, "x"); return 1, nil })
		return approved.Receive(c)
	}))
	defer r.m.Close()
	mustStep(t, r, started())
	_, err := r.m.Query("sum", journal.Payload{Data: []byte("1")})
	if !errors.Is(err, workflow.ErrReadOnly) || !strings.Contains(err.Error(), "workflow.RemoveLabels called by code that may only read") {
		t.Errorf("got %v", err)
	}
	if got := r.m.Take().Labels; got != nil {
		t.Errorf("a query has changed labels: %s", labelled(got))
	}
}
