package uitest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Patience bounds every wait; nothing is expected to take nearly as long.
const Patience = time.Minute

// Page is a tab.
type Page struct {
	T      testing.TB
	Server *Server
	ctx    context.Context
	watch  *watch
}

// Open opens a page of a server's dashboard, as wide as a desk's screen, and checks at the end of
// the test that it has done nothing that a page must not do. path is below the prefix.
func Open(t testing.TB, s *Server, path string) *Page {
	t.Helper()
	w := &watch{host: s.Host()}
	ctx, cancel := chromedp.NewContext(browser(t), chromedp.WithNewBrowserContext(), chromedp.WithListener(w.hear))
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil { // with the tab's own context, which ends the tab
		t.Fatal(err)
	}
	p := &Page{T: t, Server: s, ctx: ctx, watch: w}
	p.Do(chromedp.EmulateViewport(1280, 800))
	t.Cleanup(func() { w.check(t) })
	p.Go(path)
	return p
}

// Do runs actions of chromedp.
func (p *Page) Do(actions ...chromedp.Action[chromedp.Void]) {
	p.T.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, Patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		p.T.Fatalf("%v\nthe page: %s", err, p.text())
	}
}

// text is what the page shows, for those who read why a test has failed.
func (p *Page) text() string {
	ctx, cancel := context.WithTimeout(p.ctx, 5*time.Second)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](`location.href + "\n" + document.body.innerText`))
	if err != nil {
		return err.Error()
	}
	return text + "\n" + strings.Join(p.watch.list(), "\n")
}

// Go loads a page anew.
func (p *Page) Go(path string) {
	p.T.Helper()
	p.Do(chromedp.Navigate(p.Server.URL(path)))
}

// Await waits until an expression is true. The page itself looks every few milliseconds, by a
// function that its policy does not concern. A page that is loaded anew is asked anew.
func (p *Page) Await(expression string) {
	p.T.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, Patience)
	defer cancel()
	look := fmt.Sprintf(`new Promise((done, fail) => { const look = () => { try { (%s) ? done(true) : setTimeout(look, 10) } catch (e) { fail(e) } }; look() })`, expression)
	for {
		ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool](look, chromedp.EvalAwaitPromise))
		if ok {
			return
		}
		if _, thrown := errors.AsType[*chromedp.ExceptionError](err); thrown || ctx.Err() != nil {
			p.T.Fatalf("waited in vain until %s: %v\nthe page: %s", expression, err, p.text())
		}
	}
}

// AwaitText waits until an element shows a text.
func (p *Page) AwaitText(selector, text string) {
	p.T.Helper()
	p.Await(fmt.Sprintf("document.querySelector(%q)?.innerText.includes(%q) ?? false", selector, text))
}

// Eval returns what an expression, or a promise of one, is.
func Eval[T any](p *Page, expression string) (v T) {
	p.T.Helper()
	return Do(p, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// Do runs an action of chromedp that has a result.
func Do[T any](p *Page, action chromedp.Action[T]) T {
	p.T.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, Patience)
	defer cancel()
	v, err := chromedp.Run(ctx, action)
	if err != nil {
		p.T.Fatalf("%v\nthe page: %s", err, p.text())
	}
	return v
}

// Selectors are those of CSS, or an XPath if they begin with a slash.

// Click clicks on an element when it is there.
func (p *Page) Click(selector string) {
	p.T.Helper()
	p.Do(chromedp.Click(chromedp.Search(selector)))
}

// ClickText clicks on the button or link that has a text when it is there.
func (p *Page) ClickText(text string) {
	p.T.Helper()
	p.Do(chromedp.Click(chromedp.Search(fmt.Sprintf(`//*[(self::button or self::a or self::summary) and normalize-space(.)=%q]`, text))))
}

// Fill replaces what is in a field, as somebody who types.
func (p *Page) Fill(selector, text string) {
	p.T.Helper()
	p.Do(chromedp.Focus(chromedp.Search(selector)),
		chromedp.Evaluate[chromedp.Void](`document.activeElement.select?.()`),
		chromedp.KeyEvent(kb.Delete))
	if text != "" {
		p.Do(func(ctx context.Context, _ *chromedp.Target) (chromedp.Void, error) { // keys have not every character
			_, err := chromedp.Call(ctx, input.InsertText, input.InsertTextParams{Text: text})
			return chromedp.Void{}, err
		})
	}
}

// Press presses keys one after the other: those of package kb, or the letters of a text. A key that
// the page takes writes nothing.
func (p *Page) Press(keys string) {
	p.T.Helper()
	p.Do(func(ctx context.Context, _ *chromedp.Target) (chromedp.Void, error) {
		for _, r := range keys {
			events := kb.Encode(r)
			down, up := *events[0], *events[len(events)-1]
			down.Type = input.DispatchKeyEventTypeRawKeyDown
			if len(events) > 2 || r == '\r' {
				down.Type, down.Text = input.DispatchKeyEventTypeKeyDown, string(r)
			}
			for _, e := range []input.DispatchKeyEventParams{down, up} {
				if _, err := chromedp.Call(ctx, input.DispatchKeyEvent, e); err != nil {
					return chromedp.Void{}, err
				}
			}
		}
		return chromedp.Void{}, nil
	})
}

// Size makes the page as large as a screen.
func (p *Page) Size(width, height int) {
	p.T.Helper()
	p.Do(chromedp.EmulateViewport(int64(width), int64(height)))
}

// Theme chooses what the system prefers: light or dark.
func (p *Page) Theme(theme string) {
	p.T.Helper()
	p.Do(func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: theme}, {Name: "prefers-reduced-motion", Value: "reduce"},
		}})
		return chromedp.Void{}, err
	})
}

// Hide takes the page behind another tab, as its script sees it, or back.
func (p *Page) Hide(hidden bool) {
	p.T.Helper()
	p.Do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`Object.defineProperty(document, "hidden", {value: %t, configurable: true}); document.dispatchEvent(new Event("visibilitychange"))`, hidden)))
}

// Allow takes what is not checked at the end of the test: a page that is shown a problem logs the
// status of the answer.
func (p *Page) Allow(text string) { p.watch.allow(text) }
