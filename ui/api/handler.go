package api

import (
	"context"
	"net/http"
	"path"
	"strings"

	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/runtime"
)

// handler is the API. What changes in it is in the streams that are open.
type handler struct {
	o       Options
	client  *runtime.Client
	journal *driver.Journal
	mux     *http.ServeMux // knows the patterns of the operations, and nothing else
	byName  map[string]*operation
	cursors sealer
	feed    *feed
	shared  *shared
	streams chan struct{} // has room for streamsMax
	// describe is document, which could not be named where the operations are.
	describe func() object
}

// New returns the API of a client's journal. There is nothing to close: streams end with their
// requests. o may be nil.
func New(client *runtime.Client, o *Options) http.Handler {
	j := runtime.JournalOf(client)
	h := &handler{o: o.withDefaults(j), client: client, journal: driver.Of(j), mux: http.NewServeMux(), byName: map[string]*operation{},
		streams: make(chan struct{}, streamsMax), describe: document}
	h.cursors = newSealer(h.o.CursorKey)
	h.feed, h.shared = newFeed(h.journal, h.o.Poll), newShared()
	for _, op := range operations() {
		h.byName[op.pattern()] = op
		h.mux.Handle(op.pattern(), http.NotFoundHandler())
	}
	return h
}

// ServeHTTP finds the operation, and refuses before it begins whoever may not call it.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	op := h.find(r)
	if op == nil {
		h.missing(w, r)
		return
	}
	c := &call{h: h, op: op, r: r, scans: scanMax}
	ctx, cancel := r.Context(), context.CancelFunc(func() {})
	switch {
	case op.lines != nil:
		ctx, cancel = context.WithTimeout(ctx, streamMax)
	case op.stream == nil:
		ctx, cancel = context.WithTimeout(ctx, h.o.Timeout)
	}
	defer cancel()
	if err := c.enter(ctx, w); err != nil {
		fail(w, err)
		return
	}
	if op.stream != nil {
		h.serveStream(w, c)
		return
	}
	answer, end := squeeze(w, r, op.lines != nil)
	h.serve(answer, c)
	end() // not of one that a panic cuts off
}

// serve answers a call that is no stream.
func (h *handler) serve(w http.ResponseWriter, c *call) {
	if c.op.lines != nil {
		h.serveLines(w, c)
		return
	}
	answer, err := look(c)
	if err != nil {
		if c.r.Context().Err() == nil {
			fail(w, c.discreet(err))
		}
		return
	}
	write(w, c.status(), "application/json", answer)
}

// find returns the operation of a request, nil if there is none, and makes the parts of its path
// readable by r.PathValue. A path that is not clean is none of ours, so that the mux redirects
// nobody to an address that lacks the prefix.
func (h *handler) find(r *http.Request) *operation {
	escaped := r.URL.EscapedPath()
	if escaped == "" || escaped[0] != '/' || path.Clean(escaped) != escaped {
		return nil
	}
	_, pattern := h.mux.Handler(r)
	op := h.byName[pattern]
	if op == nil || op.stream != nil && r.Method == http.MethodHead { // which would not end
		return nil
	}
	given := strings.Split(escaped, "/")
	for i, part := range strings.Split(op.path, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			value, err := unescape(given[i])
			if err != nil {
				return nil
			}
			r.SetPathValue(strings.TrimSuffix(name, "}"), value)
		}
	}
	return op
}

// missing tells a wrong method from a wrong path.
func (h *handler) missing(w http.ResponseWriter, r *http.Request) {
	var has []string
	for _, m := range methods {
		other := r.Clone(r.Context())
		other.Method = m
		if h.find(other) != nil {
			has = append(has, m)
		}
	}
	if len(has) == 0 {
		fail(w, howTo(notFound, "GET openapi.json lists the paths that there are", "there is no path %q", r.URL.Path))
		return
	}
	w.Header().Set("Allow", strings.Join(has, ", "))
	fail(w, refuse(noMethod, "%q has no method %s", r.URL.Path, r.Method))
}
