package api

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// look does what the operation does. A reader that looks by the clock, and not because something
// has happened, says how old an answer it takes, and shares it with all that ask the same: two
// hundred tabs that look once a minute cost what a few cost. Where an answer depends on who reads
// it, nobody shares any: what Allow and Redact decide may depend on more than the actor's name.
func look(c *call) (any, error) {
	old := takes(c.r.Header)
	if old <= 0 || c.op.method != http.MethodGet || c.h.o.Allow != nil || c.h.o.Redact != nil {
		return c.op.do(c)
	}
	name := "look " + old.String() + " " + c.r.URL.EscapedPath() + "?" + c.query.Encode()
	return c.h.shared.get(c.ctx, name, old, c.h.o.Timeout, func(ctx context.Context) (any, error) {
		first := *c // its request may end before the answer is there
		first.ctx = ctx
		return c.op.do(&first)
	})
}

// takes is how old an answer a reader takes, by the max-age of its Cache-Control.
func takes(h http.Header) time.Duration {
	for d := range strings.SplitSeq(h.Get("Cache-Control"), ",") {
		text, ok := strings.CutPrefix(strings.TrimSpace(d), "max-age=")
		if seconds, err := strconv.ParseUint(text, 10, 32); ok && err == nil {
			return min(time.Duration(seconds)*time.Second, lookMax)
		}
	}
	return 0
}
