package driver

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/reprise-run/reprise/journal"
)

// The parts of a run and of a node that no statement looks into are stored as JSON. Their form is
// part of the format of the database, so it is written here once and not by each driver: a second
// copy would be free to differ.
//
// Every encoder returns nothing, without an error, for an empty value. Drivers store null then,
// which costs no bytes.

// ErrMalformed says that a stored value is not what this release or an earlier one wrote: a newer
// one did, it was changed by hand, or the disk is damaged.
var ErrMalformed = errors.New("stored value is malformed")

// EncodeLabels returns the stored form of a run's labels.
func EncodeLabels(labels map[string]string) (string, error) {
	if len(labels) == 0 {
		return "", nil
	}
	b, err := json.Marshal(labels)
	return string(b), err
}

// DecodeLabels reads what EncodeLabels wrote. The error is [ErrMalformed].
func DecodeLabels(s string) (map[string]string, error) {
	if s == "" {
		return nil, nil
	}
	var m map[string]string
	if err := json.Unmarshal([]byte(s), &m); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return m, nil
}

// EncodeLabelChanges returns the JSON merge patch (RFC 7396) of a run's labels: null removes one.
func EncodeLabelChanges(changes map[string]*string) (string, error) {
	b, err := json.Marshal(changes)
	return string(b), err
}

// EncodeHeaders returns the stored form of a run's headers, which is that of labels.
func EncodeHeaders(headers map[string]string) (string, error) { return EncodeLabels(headers) }

// DecodeHeaders reads what EncodeHeaders wrote. The error is [ErrMalformed].
func DecodeHeaders(s string) (map[string]string, error) { return DecodeLabels(s) }

// EncodeAttempts returns the stored form of a task's steps in retry.
func EncodeAttempts(list []journal.Attempt) ([]byte, error) {
	if len(list) == 0 {
		return nil, nil
	}
	return json.Marshal(list)
}

// DecodeAttempts reads what EncodeAttempts wrote. The error is [ErrMalformed]. The result does not
// hold on to b.
func DecodeAttempts(b []byte) ([]journal.Attempt, error) {
	if len(b) == 0 {
		return nil, nil
	}
	var list []journal.Attempt
	if err := json.Unmarshal(b, &list); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if err := checkAttempts(list); err != nil {
		return nil, err
	}
	return list, nil
}

// checkAttempts returns an error about counts of attempts that nobody has counted: whoever goes on
// with one compares it with what a policy allows, and waits for a time that grows with it.
func checkAttempts(list []journal.Attempt) error {
	for i := range list {
		a := &list[i]
		if err := cmp.Or(natural(a.Cmd), natural(a.Made), natural(a.Earlier), natural(a.Panics), natural(a.Made-a.Earlier)); err != nil {
			return fmt.Errorf("%w: the attempts of step %d: %w", ErrMalformed, a.Cmd, err)
		}
	}
	return nil
}

// natural returns an error about a number below 0.
func natural[N ~int | ~int32 | ~int64](n N) error {
	if n < 0 {
		return fmt.Errorf("%w: %d is below 0", ErrMalformed, n)
	}
	return nil
}

// storedPublished is a journal.Published as rows of runs keep it.
type storedPublished struct {
	Name     string `json:"name"`
	Encoding string `json:"encoding,omitempty"`
	Data     []byte `json:"data,omitempty"`
}

// EncodePublished returns the stored form of what a run has published.
func EncodePublished(list []journal.Published) (string, error) {
	if len(list) == 0 {
		return "", nil
	}
	stored := make([]storedPublished, len(list))
	for i, p := range list {
		stored[i] = storedPublished{p.Name, p.Value.Encoding, p.Value.Data}
	}
	b, err := json.Marshal(stored)
	return string(b), err
}

// DecodePublished reads what EncodePublished wrote. The error is [ErrMalformed].
func DecodePublished(s string) ([]journal.Published, error) {
	if s == "" {
		return nil, nil
	}
	var stored []storedPublished
	if err := json.Unmarshal([]byte(s), &stored); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	var list []journal.Published
	for _, p := range stored {
		list = append(list, journal.Published{Name: p.Name, Value: journal.Payload{Encoding: p.Encoding, Data: p.Data}})
	}
	return list, nil
}

// storedRoute is a Route as node rows keep it.
type storedRoute struct {
	Queue    string `json:"queue"`
	Workflow string `json:"workflow"`
	Version  int32  `json:"version"`

	Signals []string       `json:"signals,omitempty"`
	Types   []journal.Type `json:"types,omitempty"`
}

// EncodeRoutes returns the stored form of a node's routes, of the signals that they receive, and of
// their types. That of no routes is an empty list.
func EncodeRoutes(n *journal.Node) (string, error) {
	list := make([]storedRoute, len(n.Routes))
	for i, r := range n.Routes {
		list[i] = storedRoute{Queue: r.Queue, Workflow: r.Workflow, Version: r.Version, Signals: n.Signals[r], Types: n.Types[r]}
	}
	b, err := json.Marshal(list)
	return string(b), err
}

// DecodeRoutes gives a node what EncodeRoutes wrote. The error is [ErrMalformed].
func DecodeRoutes(s string, n *journal.Node) error {
	var list []storedRoute
	if err := json.Unmarshal([]byte(s), &list); err != nil {
		return fmt.Errorf("routes: %w: %w", ErrMalformed, err)
	}
	for _, r := range list {
		route := journal.Route{Queue: r.Queue, Workflow: r.Workflow, Version: r.Version}
		n.Routes = append(n.Routes, route)
		if len(r.Signals) > 0 {
			if n.Signals == nil {
				n.Signals = map[journal.Route][]string{}
			}
			n.Signals[route] = r.Signals
		}
		if len(r.Types) > 0 {
			if n.Types == nil {
				n.Types = map[journal.Route][]journal.Type{}
			}
			n.Types[route] = r.Types
		}
	}
	return nil
}

// StoredPayload returns what the row of an event holds: the payload of a message is stored once,
// with the message, and a load puts the two together again.
func StoredPayload(ev *journal.Event) journal.Payload {
	if ev.Inbox != 0 {
		return journal.Payload{}
	}
	return ev.Payload
}
