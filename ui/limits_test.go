package ui_test

import (
	"testing"

	"github.com/reprise-run/reprise/ui/uitest"
)

// TestLimits: a limit is made, and held; who waits is seen on its page and on that of the run; a
// hanging holder is released, a key gets bounds of its own, and the limit is removed.
func TestLimits(t *testing.T) {
	t.Parallel()
	s := uitest.New(t, nil)
	p := uitest.Open(t, s, "limits")
	see(p, "There are no limits.")
	p.Accessible()
	act(p, "Make a limit")
	p.Await(`document.querySelector("dialog[open]")`)
	p.Fill("dialog .field:nth-of-type(1) input", uitest.Bank)
	p.Fill("dialog .field:nth-of-type(5) input", "fast")
	p.Allow("status of 400")
	p.Click("dialog button[type=submit]")
	p.AwaitText("dialog .problem", "as in 100/1m")
	p.Accessible()
	p.Fill("dialog .field:nth-of-type(5) input", "")
	p.Fill("dialog .field:nth-of-type(3) input", "1")
	p.Fill("dialog .field:nth-of-type(11) input", "the bank asked") // the problem stands behind it
	confirm(p, "Make", "")
	see(p, "1 at once")
	s.Ask(t, "acme & söhne", 1)
	s.Ask(t, "acme & söhne", 2)
	waiter := s.Ask(t, "acme & söhne", 3)
	see(p, "1 limit, 2 waiting") // the page hears of it
	p.Accessible()
	p.Shoot("limits")
	limitActions(p, waiter.String())
}

// limitActions does to a limit all that can be done to one.
func limitActions(p *uitest.Page, waiter string) {
	p.T.Helper()
	p.Click("tbody a")
	p.AwaitText("h1", uitest.Bank)
	const lines = `document.querySelectorAll('table[aria-label="In line"] tbody tr').length`
	p.Await(lines + ` === 2 && document.querySelectorAll('table[aria-label="Held by"] tbody tr').length === 1`)
	see(p, "the bank asked")
	act(p, "Bound one key")
	p.Await(`document.querySelector("dialog[open]")`)
	p.Fill("dialog .field:nth-of-type(1) input", "tin")
	p.Fill("dialog .field:nth-of-type(3) input", "100/m")
	confirm(p, "Make", "")
	see(p, "100 per 1m0s")
	act(p, "Change the bounds of key tin")
	p.Await(`document.querySelector("dialog[open]")`)
	p.Fill("dialog .field:nth-of-type(3) input", "10")
	confirm(p, "Change", "they grow")
	see(p, "burst 10")
	p.Accessible()
	p.Shoot("limit")
	p.Go("runs/" + waiter)
	p.AwaitText(".why", "waits for limit \""+uitest.Bank+"\", key \"acme & söhne\"")
	p.AwaitText(".why", "held by step ask of run")
	p.Accessible()
	p.Shoot("run-limit")
	p.ClickText("Limit " + uitest.Bank)
	p.AwaitText("h1", "acme & söhne")
	p.Await(lines + ` === 2`)
	uitest.Eval[bool](p, `(document.querySelector('table[aria-label="Held by"] button').click(), true)`)
	confirm(p, "Release", "it hangs")
	p.Await(lines + ` === 1`)
	p.ClickText("All keys")
	see(p, "tin")
	act(p, "Remove the bounds of key tin")
	confirm(p, "Remove", "")
	act(p, "Remove the bounds of each key")
	confirm(p, "Remove", "nobody needs it")
	p.AwaitText("h1", "Limits")
}
