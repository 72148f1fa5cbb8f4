package uitest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/chromedp/chromedp"
)

var shots = flag.String("shots", "", "folder for pictures of pages")

// Shoot keeps pictures of the page in both themes and two widths if the flag -shots names a folder.
// In any case the page must not be wider than a narrow screen.
func (p *Page) Shoot(name string) {
	p.T.Helper()
	for _, width := range []int{320, 1280} {
		p.Size(width, 800)
		if is := Eval[int](p, `document.documentElement.scrollWidth`); is > width {
			p.T.Errorf("%s is %d wide on a screen of %d: %s", name, is, width,
				Eval[string](p, `[...document.querySelectorAll("main *")].filter(e => e.getBoundingClientRect().right > innerWidth).slice(0, 5).map(e => e.outerHTML.slice(0, 120)).join("\n")`))
		}
		if *shots == "" {
			continue
		}
		for _, theme := range []string{"light", "dark"} {
			p.Theme(theme)
			picture := Do(p, chromedp.FullScreenshot(100))
			if err := os.MkdirAll(*shots, 0o777); err != nil {
				p.T.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(*shots, fmt.Sprintf("%s-%s-%d.png", name, theme, width)), picture, 0o666); err != nil {
				p.T.Fatal(err)
			}
		}
		p.Theme("light")
	}
}
