package uitest

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdpruntime "github.com/chromedp/cdproto/runtime"
)

// watch gathers what a page must not do: log an error, throw one that nobody catches, break its
// policy, or ask another host.
type watch struct {
	host string

	mu      sync.Mutex
	broken  []string
	allowed []string
}

func (w *watch) hear(event any) {
	switch e := event.(type) {
	case *cdpruntime.EventExceptionThrown:
		w.add(fmt.Sprintf("exception: %s %s", e.ExceptionDetails.Text, described(e.ExceptionDetails.Exception)))
	case *cdpruntime.EventConsoleAPICalled:
		if e.Type == cdpruntime.ConsoleAPICalledTypeError || e.Type == cdpruntime.ConsoleAPICalledTypeWarning {
			var args []string
			for _, a := range e.Args {
				args = append(args, described(a))
			}
			w.add(fmt.Sprintf("console.%s: %s", e.Type, strings.Join(args, " ")))
		}
	case *cdplog.EventEntryAdded: // also what the policy refuses, and answers with an error's status
		if e.Entry.Level == cdplog.EntryLevelError || e.Entry.Level == cdplog.EntryLevelWarning {
			w.add(fmt.Sprintf("log of %s: %s (%s)", e.Entry.Source, e.Entry.Text, e.Entry.URL))
		}
	case *network.EventRequestWillBeSent:
		u, err := url.Parse(e.Request.URL)
		if err != nil || u.Host != w.host && u.Scheme != "data" && u.Scheme != "blob" && u.Scheme != "about" {
			w.add("a request to another host: " + e.Request.URL)
		}
	}
}

// described is an object of the page in words.
func described(o *cdpruntime.RemoteObject) string {
	if o == nil {
		return ""
	}
	return string(o.Value) + o.Description
}

func (w *watch) add(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.broken = append(w.broken, text)
}

func (w *watch) allow(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.allowed = append(w.allowed, text)
}

// list is what was gathered and is not allowed.
func (w *watch) list() (list []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, b := range w.broken {
		if !slices.ContainsFunc(w.allowed, func(a string) bool { return strings.Contains(b, a) }) {
			list = append(list, b)
		}
	}
	return list
}

func (w *watch) check(t testing.TB) {
	t.Helper()
	for _, b := range w.list() {
		t.Errorf("the page: %s", b)
	}
}
