package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/reprise-run/reprise/replay/workflow"
)

// ask returns what asks a partner over HTTP. A partner does the same request once, however often it
// comes: its path names what is asked for, and the header is the same on every attempt of a step.
func ask(base string) func(ctx context.Context, method, path string) error {
	return func(ctx context.Context, method, path string) error {
		request, err := http.NewRequestWithContext(ctx, method, base+"/"+path, nil)
		if err != nil {
			return workflow.Permanent(err)
		}
		request.Header.Set("Idempotency-Key", workflow.IdempotencyKey(ctx))
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err // the step is tried again
		}
		response.Body.Close()
		err = fmt.Errorf("%s %s: %s", method, path, response.Status)
		switch {
		case response.StatusCode >= 500:
			return err
		case response.StatusCode >= 400:
			return workflow.Permanent(err) // no is no: the saga is undone
		}
		return nil
	}
}

// partners is a toy in place of an airline, a hotel and a mail service.
type partners struct {
	mu     sync.Mutex
	booked map[string]bool // by path
}

var errFull = errors.New("full")

func (p *partners) do(method, path string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if method == http.MethodDelete {
		delete(p.booked, path)
		return nil
	}
	if path == "hotel/full" {
		return errFull
	}
	p.booked[path] = true
	return nil
}

func (p *partners) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := p.do(r.Method, r.URL.Path[1:]); err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
	}
}
