package ui_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/ui"
	"github.com/reprise-run/reprise/ui/uitest"
)

// TestRunEndsLive: a page has the events that ended its run, also if it has known of the end before
// its stream has told them.
func TestRunEndsLive(t *testing.T) {
	t.Parallel()
	late := make(chan struct{})
	s := uitest.New(t, func(o *ui.Options) {
		o.API.Auth = func(r *http.Request) (string, error) {
			if strings.HasSuffix(r.URL.Path, "/events") {
				select {
				case <-late:
				case <-r.Context().Done():
				}
			}
			return "eva", nil
		}
	})
	id := startOrder(t, s, "ends", "signal", parked)
	p := openRun(t, s, "runs/"+id.String()+"?tab=history")
	p.Await(`document.querySelector("[role=listbox]")?.dataset.count === "2"`)
	p.act("Terminate")
	p.submit("Terminate it")
	p.word("terminated")
	close(late)
	p.Await(`document.querySelector("[role=listbox]").dataset.count === "3"`)
	p.AwaitText(".event:last-child", "RunTerminated")
	p.Await(`!document.querySelector(".live")?.innerText.includes("live")`) // there is nothing more to come
	p.tab("")
	p.Await(rowNames + ` === "charge"`)
	if n := uitest.Eval[int](p.Page, `performance.getEntriesByType("resource").filter(e => /\/history/.test(e.name)).length`); n != 1 {
		t.Errorf("the history was read %d times", n)
	}
}
