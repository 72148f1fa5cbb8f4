package ui_test

import (
	"testing"

	"github.com/reprise-run/reprise/ui/uitest"
)

// TestFlows: the picture of a flow has every node once, no two of them in one place, and no line
// that leads upwards.
func TestFlows(t *testing.T) {
	t.Parallel()
	s := uitest.New(t, nil)
	_, hash := s.PlantFlow(t)
	p := uitest.Open(t, s, "flows")
	p.ClickText("fulfil")
	p.AwaitText("main", hash)
	p.Await(`document.querySelectorAll(".graph").length === 2`)
	if n := uitest.Eval[int](p, `document.querySelectorAll(".graph")[0].querySelectorAll(".node").length`); n != 11 {
		t.Errorf("the picture has %d nodes", n)
	}
	const over = `(g => g.flatMap((a, i) => g.slice(i + 1).filter(b => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)).length)([...document.querySelector(".graph").querySelectorAll("rect")].map(r => r.getBoundingClientRect()))`
	if n := uitest.Eval[int](p, over); n != 0 {
		t.Errorf("%d pairs of nodes lie over each other", n)
	}
	const lines = `(g => { const at = id => g.querySelector('.node[data-id="' + id + '"] rect').getBoundingClientRect();
		return [...g.querySelectorAll("path")].map(l => [l.dataset.from, l.dataset.to]).map(([from, to]) => at(from).bottom < at(to).top ? from + ">" + to : "UP " + from + ">" + to).sort().join(" ") })(document.querySelector(".graph"))`
	const want = "approval>ship charge>fraud-check charge>gift-card charge>ship fraud-check>approval gift-card>pack label>van-comes pack>van-comes reserve>label reserve>pack ship>return ship>thank van-comes>ship"
	if got := uitest.Eval[string](p, lines); got != want {
		t.Errorf("its lines are %s", got)
	}
	p.Do(focus(`.node[data-id="ship"]`))
	p.Press("\r")
	p.Await(`document.querySelector("tr.marked")?.dataset.key === "ship" && document.querySelector('.node[data-id="ship"]').ariaPressed === "true"`)
	see(p, "if it is <b>a gift</b>, else skip")
	p.Accessible()
	p.Shoot("flow")
	uitest.Eval[bool](p, `(s => (s.value = "mermaid", s.dispatchEvent(new Event("change", {bubbles: true})), true))(document.querySelector("main select"))`)
	see(p, "flowchart")
}
