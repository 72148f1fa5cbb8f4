package uitest

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/chromedp/chromedp"
)

//go:embed testdata/axe/axe.min.js
var axe string

// violation is what axe-core has found.
type violation struct {
	ID     string
	Impact string
	Help   string
	Nodes  []string
}

// lesser leaves out the rules whose violations are always moderate or minor: they fail no test, and
// some of them look at every element.
const lesser = `, rules: Object.fromEntries(axe._audit.rules.filter(r => r.impact === "moderate" || r.impact === "minor").map(r => [r.id, {enabled: false}]))`

// Accessible fails the test for what axe-core finds serious or worse on the page as it is, in both
// themes: whatever it knows in one of them, and contrasts, which alone depend on it, in the other.
func (p *Page) Accessible() {
	p.T.Helper()
	if !Eval[bool](p, `"axe" in window`) {
		p.Do(chromedp.Evaluate[chromedp.Void](axe))
	}
	for _, run := range [][2]string{{"light", lesser}, {"dark", `, runOnly: ["color-contrast"]`}} {
		theme, only := run[0], run[1]
		p.Theme(theme)
		for _, v := range Eval[[]violation](p, `axe.run(document, {resultTypes: ["violations"]`+only+`}).then(r => r.violations.map(v =>
			({id: v.id, impact: v.impact, help: v.help, nodes: v.nodes.map(n => n.html.slice(0, 200) + " " + n.failureSummary)})))`) {
			text := fmt.Sprintf("axe-core, %s: %s, %s: %s\n  %s", theme, v.Impact, v.ID, v.Help, strings.Join(v.Nodes, "\n  "))
			if v.Impact == "serious" || v.Impact == "critical" {
				p.T.Error(text)
			} else {
				p.T.Log(text)
			}
		}
	}
	p.Theme("light")
}
