package uitest

import (
	"context"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
)

// shared is the one browser of a test binary: to start one takes as long as ten tests. Each page
// has a profile of its own in it, so tests share no storage.
var shared struct {
	sync.Mutex
	ctx    context.Context
	cancel func()
}

// names are those of Chromium's program; the first one has no windows, and takes half as long.
var names = []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"}

// browser returns the context of the running browser.
func browser(t testing.TB) context.Context {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.ctx != nil {
		return shared.ctx
	}
	program := ""
	for _, name := range names {
		if found, err := exec.LookPath(name); err == nil {
			program = found
			break
		}
	}
	if program == "" {
		t.Fatal("there is no Chromium: install Debian's package chromium-headless-shell, or run .ci/prepare")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(program),
		chromedp.DisableGPU,
		chromedp.Flag("disable-dev-shm-usage", true), // containers have little of it
		// Whatever asks for another host fails, and is seen by the page's watch.
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"),
		chromedp.Flag("force-prefers-reduced-motion", true),
		chromedp.Flag("lang", "en-US"),
	)
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox) // which root cannot have
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, end := chromedp.NewContext(allocator)
	if err := chromedp.Do(ctx); err != nil {
		end()
		stop()
		t.Fatalf("start %s: %v", program, err)
	}
	shared.ctx, shared.cancel = ctx, func() {
		end()
		stop()
	}
	return ctx
}

// endBrowser ends the browser if there is one.
func endBrowser() {
	shared.Lock()
	defer shared.Unlock()
	if shared.ctx != nil {
		shared.cancel()
		shared.ctx = nil
	}
}
