package ui_test

import (
	"testing"

	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
	"github.com/reprise-run/reprise/ui/uitest"
)

// TestViews: a filter is saved under a name of any kind, is there for everybody, and is deleted.
func TestViews(t *testing.T) {
	t.Parallel()
	s := uitest.New(t, nil)
	name := `tonight/<b>"open"</b>`
	p := uitest.Open(t, s, `runs?where=status+%3D+open+and+queue+%3D+%22a%26b%22`)
	act(p, "Save view…")
	p.Await(`document.querySelector("dialog[open] input[name=view]")`)
	p.Fill("dialog input[name=view]", name)
	confirm(p, "Save", "for the night")
	p.AwaitText(".views [aria-current=true]", name)
	ctx := clustertest.Context(t)
	if list, err := runtime.Views(ctx, s.Client); err != nil || len(list) != 1 || list[0].Name != name {
		t.Errorf("the views are %+v (%v)", list, err)
	}
	other := uitest.Open(t, s, "runs")
	other.Await(`document.querySelectorAll(".views li").length === 5`)
	other.Click(".views li:last-child a")
	other.Await(`new URLSearchParams(location.search).get("where") === 'status = open and queue = "a&b"'`)
	other.Accessible()
	other.Shoot("runs-views")
	act(other, "Delete view…")
	confirm(other, "Delete", "")
	other.Await(`document.querySelectorAll(".views li").length === 4`)
	if list, err := runtime.Views(ctx, s.Client); err != nil || len(list) != 0 {
		t.Errorf("the views are %+v (%v)", list, err)
	}
}
