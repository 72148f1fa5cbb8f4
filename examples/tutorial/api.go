package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
)

// api answers HTTP requests. It only starts runs and talks to them: the work is the node's.
type api struct {
	node     *runtime.Node
	patience time.Duration
}

func (a *api) routes() *http.ServeMux {
	mux := http.NewServeMux()
	mux.Handle("POST /trips", handler(a.book))
	mux.Handle("GET /trips/{id}", handler(a.status))
	mux.Handle("POST /trips/{id}/decision", handler(a.decide))
	mux.Handle("GET /trips/{id}/receipt", handler(a.receipt))
	mux.Handle("/partners/", http.StripPrefix("/partners", &partners{booked: map[string]bool{}}))
	return mux
}

var word = regexp.MustCompile(`^[a-z0-9-]{1,40}$`)

// book starts a run for a trip. Its key makes the request idempotent: a trip is booked once,
// however often the client sends it.
func (a *api) book(r *http.Request) (any, error) {
	var t Trip
	if err := json.NewDecoder(r.Body).Decode(&t); err != nil {
		return nil, fmt.Errorf("%w trip: %w", journal.ErrInvalid, err)
	}
	if !word.MatchString(t.ID) || !word.MatchString(t.Customer) {
		return nil, fmt.Errorf("%w trip: ID and Customer must match %s", journal.ErrInvalid, word)
	}
	t.Patience = a.patience
	run, err := runtime.Start(r.Context(), a.node.Client(), BookTrip, t, &runtime.StartOptions{Key: "trip:" + t.ID})
	if err != nil {
		return nil, err
	}
	return map[string]any{"Run": run.ID(), "Created": run.Created()}, nil
}

// status asks the run, which is answered also when it has ended.
func (a *api) status(r *http.Request) (any, error) {
	id, err := a.find(r)
	if err != nil {
		return nil, err
	}
	return runtime.Query(r.Context(), a.node, id, Status, struct{}{})
}

// decide sends a decision. By its key the first one counts, and a second click does nothing.
func (a *api) decide(r *http.Request) (any, error) {
	var d Decision
	if err := json.NewDecoder(r.Body).Decode(&d); err != nil {
		return nil, fmt.Errorf("%w decision: %w", journal.ErrInvalid, err)
	}
	id, err := a.find(r)
	if err != nil {
		return nil, err
	}
	err = runtime.Signal(r.Context(), a.node.Client(), id, Decided, d, &runtime.SignalOptions{Key: "decision"})
	return "sent", err
}

// receipt waits until the trip is booked or has failed.
func (a *api) receipt(r *http.Request) (any, error) {
	id, err := a.find(r)
	if err != nil {
		return nil, err
	}
	return runtime.RunOf(a.node.Client(), BookTrip, id).Result(r.Context())
}

func (a *api) find(r *http.Request) (journal.RunID, error) {
	return a.node.Client().FindKey(r.Context(), "trip:"+r.PathValue("id"))
}

// handler writes what a function returns as JSON, or its error with a status.
type handler func(*http.Request) (any, error)

func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer, err := h(r)
	if err != nil {
		http.Error(w, err.Error(), statusOf(err))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer)
}

func statusOf(err error) int {
	var failed *runtime.FailedError
	switch {
	case errors.Is(err, journal.ErrInvalid):
		return http.StatusBadRequest
	case errors.Is(err, journal.ErrNotFound):
		return http.StatusNotFound
	case errors.Is(err, journal.ErrClosed): // too late: the run has ended
		return http.StatusConflict
	case errors.As(err, &failed): // the trip was not booked
		return http.StatusUnprocessableEntity
	default: // the store is away, or the client: it may ask again
		return http.StatusServiceUnavailable
	}
}
