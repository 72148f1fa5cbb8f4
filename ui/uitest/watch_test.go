package uitest

import (
	"fmt"
	"strings"
	"testing"
)

func TestMain(m *testing.M) { Main(m) }

// recorder is a test that notes what it fails for.
type recorder struct {
	testing.TB
	errors []string
}

func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}
func (r *recorder) Error(args ...any) { r.errors = append(r.errors, fmt.Sprint(args...)) }

// TestFaultsAreSeen: what a page must not do fails its test.
func TestFaultsAreSeen(t *testing.T) {
	t.Parallel()
	p := Open(t, New(t, nil), "runs")
	p.Await(`document.querySelector("main h1")`)
	r := &recorder{TB: t}
	p.watch.check(r)
	if len(r.errors) > 0 {
		t.Fatalf("a page that does nothing wrong fails for %q", r.errors)
	}
	for fault, sign := range map[string]string{
		`console.error("a fault")`:                                                                    "a fault",
		`void setTimeout(() => { throw new Error("nobody catches") })`:                                "nobody catches",
		`fetch("http://elsewhere.example/").catch(() => 1)`:                                           "http://elsewhere.example/",
		`document.body.append(Object.assign(document.createElement("style"), {textContent: "p {}"}))`: "Content Security Policy",
		`(() => { try { document.body.innerHTML += "<p>" } catch {} })()`:                             "TrustedHTML",
	} {
		Eval[any](p, `(`+fault+`, 1)`)
		seen := func() bool {
			r := &recorder{TB: t}
			p.watch.check(r)
			return strings.Contains(strings.Join(r.errors, "\n"), sign)
		}
		for i := 0; !seen(); i++ { // what a page logs comes after the answer
			if Eval[int](p, `new Promise(done => setTimeout(() => done(1), 10))`); i == 500 {
				t.Errorf("%s is not seen: %q", fault, p.watch.list())
				break
			}
		}
	}
	p.T = r
	Eval[any](p, `document.querySelector("main").append(document.createElement("input")), 1`)
	p.Accessible()
	Eval[any](p, `document.querySelector("main").append(Object.assign(document.createElement("pre"), {innerText: "x".repeat(9)})), document.querySelector("pre").style.width = "900px", 1`)
	p.Shoot("wide")
	all := strings.Join(r.errors, "\n")
	for _, sign := range []string{"label", "900"} {
		if !strings.Contains(all, sign) {
			t.Errorf("%s is not seen: %s", sign, all)
		}
	}
	p.watch.allow("") // all of that was meant
}
