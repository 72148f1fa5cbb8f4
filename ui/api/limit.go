package api

import (
	"net/http"
	"reflect"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/ui/record"
)

// limitKey is a parameter of operations about a limit.
var limitKey = text("key", "only this key")

func limitOperations() []*operation {
	changed := reflect.TypeFor[record.LimitChange]()
	return []*operation{
		{method: http.MethodGet, path: "/limits", verbs: []string{"limit list"}, summary: "List limits, with what is held of them and how many wait.",
			answer: reflect.TypeFor[[]record.Limit](), do: listLimits},
		{method: http.MethodGet, path: "/limits/{limit}", verbs: []string{"limit show"}, summary: "Show a limit: its keys that are in use, who holds it, and who waits in which place.",
			params: []param{limitKey, number("limit", "how many keys, and how many claims, at most: 1 to 1000; default 50")}, answer: reflect.TypeFor[record.Limit](), do: showLimit},
		{method: http.MethodPut, path: "/limits/{limit}", verbs: []string{"limit set"}, writes: true, body: reflect.TypeFor[setLimitRequest](), answer: changed,
			summary: "Make a limit, or its row for one key, what the request says, while steps hold it and wait for it.", do: setLimit},
		{method: http.MethodDelete, path: "/limits/{limit}", verbs: []string{"limit remove"}, writes: true, params: []param{limitKey, reason}, answer: changed,
			summary: "Remove a limit, or its row for one key. Steps that wait for it begin.", do: removeLimit},
		{method: http.MethodPost, path: "/runs/{run}/release", verbs: []string{releaseVerb}, writes: true, body: reflect.TypeFor[releaseRequest](), answer: changed,
			summary: "Take what a run holds of limits away, for a step that hangs. The step is not ended.", do: releaseClaim},
	}
}

func listLimits(c *call) (any, error) {
	if err := c.may(c.op.verb(), nil); err != nil {
		return nil, err
	}
	page, err := runtime.Limits(c.ctx, c.h.client, &journal.LimitFilter{Uses: journal.ListMax})
	if err != nil {
		return nil, err
	}
	return record.LimitsOf(&page), nil
}

func showLimit(c *call) (any, error) {
	n := c.limit()
	if c.wrong != nil {
		return nil, c.wrong
	}
	if err := c.may(c.op.verb(), nil); err != nil {
		return nil, err
	}
	name := c.r.PathValue("limit")
	page, err := runtime.Limits(c.ctx, c.h.client, &journal.LimitFilter{Name: name, Key: c.text(limitKey.name), Uses: n, Claims: n})
	if err != nil {
		return nil, err
	}
	rec, ok := record.LimitOf(&page)
	if !ok {
		return nil, howTo(notFound, "GET limits lists the limits that there are", "no limit is %q", name)
	}
	rec.Claims, err = claimsSeen(c, rec.Claims)
	return &rec, err
}

const releaseVerb = "limit release"

// claimsSeen are those claims of which the actor may see the run. The others are counted, and no
// more is said of them.
func claimsSeen(c *call, list []record.LimitClaim) ([]record.LimitClaim, error) {
	if c.h.o.Allow == nil || len(list) == 0 {
		return list, nil
	}
	var ids []journal.RunID
	for i := range list {
		id, err := journal.ParseRunID(list[i].Run)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	rows, err := rowsOf(c, ids)
	if err != nil {
		return nil, err
	}
	shown := []record.LimitClaim{}
	for i := range list {
		row := rows[ids[i]]
		if row == nil || !c.sees(row) {
			continue
		}
		if c.allows(releaseVerb, row) {
			list[i].May = []string{releaseVerb}
		}
		shown = append(shown, list[i])
	}
	return shown, nil
}

// setLimitRequest is the body of a limit that is set.
type setLimitRequest struct {
	Key         string `json:"key,omitempty" doc:"make the row of this key alone; default that of all keys"`
	Concurrency int    `json:"concurrency,omitempty" doc:"so many of one key at once; 0 for any number"`
	Total       int    `json:"total,omitempty" doc:"so many of all keys together; 0 for any number"`
	Rate        string `json:"rate,omitempty" doc:"so much of one key in a time, as in 100/1m; default any rate"`
	Burst       int64  `json:"burst,omitempty" doc:"what may begin at once after a pause; default 1"`
	Weight      int    `json:"weight,omitempty" doc:"share of a key in the total; default 1"`
	Ageing      string `json:"ageing,omitempty" doc:"how long a wait is worth one level of priority, as in 1m, which is the default"`
	MaxBacklog  int    `json:"max_backlog,omitempty" doc:"so many runs of one key may wait; 0 for any number"`
	OnFull      string `json:"on_full,omitempty" doc:"what happens to a run that comes when so many wait: reject, which is the default, cancel oldest or cancel newest"`
	Reason      string `json:"reason,omitempty" doc:"why, for the audit"`
}

// limit is what the request says.
func (b *setLimitRequest) limit(name string) (journal.Limit, error) {
	l := journal.Limit{Name: name, Key: b.Key, Concurrency: b.Concurrency, Total: b.Total, Weight: b.Weight, MaxBacklog: b.MaxBacklog}
	var err error
	if l.OnFull, err = journal.ParseOnFull(b.OnFull); err != nil {
		return l, refuse(invalidRequest, "field %q: %v", "on_full", err)
	}
	if l.Rate, err = record.ParseRate(b.Rate); err != nil {
		return l, refuse(invalidRequest, "field %q: %v", "rate", err)
	}
	l.Rate.Burst = b.Burst
	if b.Ageing != "" {
		if l.Ageing, err = time.ParseDuration(b.Ageing); err != nil {
			return l, refuse(invalidRequest, "field %q is no time such as 1m: %q", "ageing", b.Ageing)
		}
	}
	return l, l.Check()
}

func setLimit(c *call) (any, error) {
	b, name := c.body.(*setLimitRequest), c.r.PathValue("limit")
	if err := c.may(c.op.verb(), nil); err != nil {
		return nil, err
	}
	l, err := b.limit(name)
	if err != nil {
		return nil, err
	}
	if err := runtime.SetLimit(c.because(b.Reason), c.h.client, l); err != nil {
		return nil, err
	}
	return &record.LimitChange{Name: name, Key: b.Key, Text: record.LimitText(&l), Done: "set"}, nil
}

func removeLimit(c *call) (any, error) {
	name, key := c.r.PathValue("limit"), c.text(limitKey.name)
	if err := c.may(c.op.verb(), nil); err != nil {
		return nil, err
	}
	if err := runtime.RemoveLimit(c.ctx, c.h.client, name, key); err != nil {
		return nil, err
	}
	return &record.LimitChange{Name: name, Key: key, Done: "removed"}, nil
}

// releaseRequest is the body of a release.
type releaseRequest struct {
	Claim  string `json:"claim" doc:"the claim, as GET limits/LIMIT and GET runs/ID/why have it"`
	Reason string `json:"reason,omitempty" doc:"why, for the audit"`
}

// releaseClaim is about a run, so Allow is asked about that, and the claim must be one of it.
func releaseClaim(c *call) (any, error) {
	b := c.body.(*releaseRequest)
	run, err := c.run()
	if err != nil {
		return nil, err
	}
	node, id, err := journal.ParseClaimHandle(b.Claim)
	if err != nil {
		return nil, err
	}
	page, err := runtime.Limits(c.ctx, c.h.client, &journal.LimitFilter{Run: run, Claims: journal.ListMax})
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(page.Claims, func(has journal.LimitClaim) bool { return has.Node == node && has.ID == id }) {
		return nil, howTo(notFound, "GET runs/ID/why and GET limits/LIMIT list the claims there are", "the run has no claim %q: its step has ended, or its node", b.Claim)
	}
	if err := runtime.ReleaseClaim(c.because(b.Reason), c.h.client, node, id); err != nil {
		return nil, err
	}
	return &record.LimitChange{Claim: b.Claim, Done: "released"}, nil
}
