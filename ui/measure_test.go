package ui_test

import (
	"flag"
	"slices"
	"testing"

	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
	"github.com/reprise-run/reprise/ui/uitest"
)

var measured = flag.Int("measure", 1, "how often TestMeasure measures")

// TestMeasure prints how long the page of runs takes until something and until its rows are
// painted, and a change until it is on screen. It limits nothing: machines are busy. The figures
// are in docs/dashboard.md.
func TestMeasure(t *testing.T) {
	rest := "0"
	if *measured == 1 { // once, beside the other tests, shows that it still measures
		t.Parallel()
	} else {
		rest = "300 + Math.random() * 1500"
	}
	s := uitest.New(t, nil)
	ctx := clustertest.Context(t)
	for range 60 {
		run, err := runtime.Start(ctx, s.Client, uitest.Customs, "Lima", nil)
		clustertest.MustStart(t, run, err)
	}
	p := uitest.Open(t, s, "runs")
	var paint, listed, change []float64
	for range *measured {
		p.Go("runs")
		p.Await(rows + ` === 50`)
		p.Await(`performance.getEntriesByName("first-contentful-paint").length > 0`)
		paint = append(paint, uitest.Eval[float64](p, `performance.getEntriesByName("first-contentful-paint")[0].startTime`))
		listed = append(listed, uitest.Eval[float64](p, `performance.getEntriesByType("resource").find(e => e.name.includes("api/runs?")).responseEnd`))
		p.AwaitText(".live", "live")
		p.Await(`document.querySelectorAll("time").length > 0`)
		// The page itself starts a run and waits for its row: one clock.
		change = append(change, uitest.Eval[float64](p, `(async () => {
			await new Promise(done => setTimeout(done, `+rest+`)); // the stream is at rest
			const was = document.querySelector("tbody tr").dataset.key;
			const begin = performance.now();
			await fetch("api/runs", {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify({workflow: "customs", input: "Lima"})});
			while (document.querySelector("tbody tr").dataset.key === was) await new Promise(done => setTimeout(done, 5));
			return performance.now() - begin;
		})()`))
	}
	for what, list := range map[string][]float64{"first paint": paint, "the runs have come": listed, "a change is on screen": change} {
		slices.Sort(list)
		t.Logf("%s: median %.0f ms, 95 of a hundred %.0f ms, of %d", what, list[len(list)/2], list[len(list)*95/100], len(list))
	}
}
