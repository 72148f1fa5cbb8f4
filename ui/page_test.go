package ui_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/reprise-run/reprise/ui/uitest"
)

// back goes back in the history of the browser.
func back(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
	return chromedp.Evaluate[chromedp.Void](`history.back()`)(ctx, t)
}

// choose chooses an option of a select, as somebody who does.
func choose(selector, option string) chromedp.Action[chromedp.Void] {
	return chromedp.Evaluate[chromedp.Void](fmt.Sprintf(
		`(() => { const s = document.querySelector(%q); s.value = %q; s.dispatchEvent(new Event("change", {bubbles: true})); })()`, selector, option))
}

// TestKeyboard: keys lead everywhere, and say so; the theme is chosen and stays.
func TestKeyboard(t *testing.T) {
	t.Parallel()
	p := uitest.Open(t, uitest.Planted(t), "")
	p.Await(rows + ` >= 15`)
	p.Press(kb.Tab)
	p.Await(`document.activeElement.matches(".skip")`)
	p.Press(kb.Enter)
	p.Await(`document.activeElement.id === "main" && location.hash === ""`)
	p.Press("?")
	p.AwaitText("dialog", "the filter")
	p.Accessible()
	p.Shoot("keys")
	p.Press(kb.Escape)
	p.Await(`document.querySelectorAll("dialog").length === 0 && document.activeElement.id === "main"`)
	p.Go("nowhere/at all")
	p.AwaitText("main", "No such page")
	p.Accessible()
	p.Shoot("nowhere")
	p.Press("gr")
	p.Await(`location.pathname.endsWith("/reprise/runs") && document.title.startsWith("Runs · ")`)
	p.Do(choose(".theme select", "dark"))
	dark := `getComputedStyle(document.body).backgroundColor === "rgb(22, 21, 20)"`
	p.Await(dark)
	p.Go("runs")
	p.Await(dark)
	p.Do(choose(".theme select", "system"))
	p.Await(`!(` + dark + `)`)
}
