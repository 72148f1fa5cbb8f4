package ui_test

import (
	"testing"

	"github.com/reprise-run/reprise/ui/uitest"
)

func TestRuns(t *testing.T) {
	t.Parallel()
	p := uitest.Open(t, uitest.Planted(t), "runs")
	p.Await(`document.querySelectorAll("tbody tr").length >= 15`)
	p.AwaitText("tbody", "the card was declined")
	p.Accessible()
	p.Shoot("runs")
}
