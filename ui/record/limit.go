package record

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// Limit is a limit: what it bounds, what is held of it, and what waits.
type Limit struct {
	Name    string        `json:"name" doc:"its name, which steps say"`
	Bounds  []LimitBounds `json:"bounds" doc:"its rows: that of all keys, and those of keys that have their own; empty if it has been removed while steps held it"`
	Held    int           `json:"held" doc:"claims that are held, of all keys"`
	Waiting int           `json:"waiting" doc:"claims that wait, of all keys"`
	InUse   int           `json:"keys_in_use" doc:"keys of which something is held, waits, or has lately begun"`
	Capped  bool          `json:"capped,omitempty" doc:"whether there are more keys than were looked at: then the counts are those of the keys with the longest lines"`
	NextAt  *time.Time    `json:"next_at,omitempty" doc:"when a rate lets the next claim begin, of the keys that wait; absent for now"`
	Keys    []LimitKey    `json:"keys,omitempty" doc:"if one limit is shown: its keys that are in use, those with the longest lines first"`
	Claims  []LimitClaim  `json:"claims,omitempty" doc:"if one limit is shown: who holds it, and then who waits, in the order of the lines"`
}

// LimitBounds is what a limit bounds, for all keys or for one.
type LimitBounds struct {
	Key         string    `json:"key,omitempty" doc:"the only key that it is for; absent for all that have no row of their own"`
	Concurrency int       `json:"concurrency,omitempty" doc:"so many of one key at once; absent for any number"`
	Total       int       `json:"total,omitempty" doc:"so many of all keys together; absent for any number"`
	Rate        string    `json:"rate,omitempty" doc:"so much of one key in a time, as in 100/1m; absent for any rate"`
	Burst       int64     `json:"burst,omitempty" doc:"what may begin at once after a pause"`
	Weight      int       `json:"weight" doc:"share of a key in the total"`
	Ageing      string    `json:"ageing" doc:"how long a wait is worth one level of priority, as in 1m"`
	MaxBacklog  int       `json:"max_backlog,omitempty" doc:"so many runs of one key may wait; 0 for any number"`
	OnFull      string    `json:"on_full,omitempty" doc:"what happens to a run that comes when so many wait: reject, cancel oldest or cancel newest; absent without a backlog"`
	At          time.Time `json:"at" doc:"when it was set"`
	Actor       string    `json:"actor,omitempty" doc:"who has set it, as the program said"`
	Reason      string    `json:"reason,omitempty" doc:"why, as the operator said"`
	Text        string    `json:"text" doc:"what it bounds, in words"`
}

// LimitKey is what is held of one key of a limit, and waits.
type LimitKey struct {
	Key     string     `json:"key,omitempty" doc:"the key; absent for that of steps that name none"`
	Held    int        `json:"held" doc:"claims that are held"`
	Waiting int        `json:"waiting" doc:"claims that wait"`
	NextAt  *time.Time `json:"next_at,omitempty" doc:"when its rate lets the next claim begin; absent for now"`
}

// LimitClaim is what a step has of a limit, or waits for.
type LimitClaim struct {
	Claim     string     `json:"claim" doc:"its name, which a release takes: that of all limits which the step needs"`
	Limit     string     `json:"limit" doc:"name of the limit"`
	Key       string     `json:"key,omitempty" doc:"the key"`
	Run       string     `json:"run" doc:"id of the run"`
	Step      string     `json:"step,omitempty" doc:"name of the step; absent if it is the run's own"`
	Cmd       int32      `json:"cmd,omitempty" doc:"number of the step among all that the run has asked for"`
	Node      int32      `json:"node,omitempty" doc:"number of the node that executes it"`
	Cost      int64      `json:"cost" doc:"how much of the rate it needs"`
	Priority  int        `json:"priority" doc:"1, the most urgent, to 5"`
	Since     time.Time  `json:"since" doc:"when the step fell due: its place in line is counted from then"`
	GrantedAt *time.Time `json:"granted_at,omitempty" doc:"since when it is held; absent while it waits"`
	Place     int        `json:"place,omitempty" doc:"its place in the line of its key, from 1, counted up to 1000; absent if it is held"`
	May       []string   `json:"may,omitempty" doc:"if one limit is shown, of an HTTP API that asks who may do what: limit release, if the actor may release it"`
}

// LimitWait is what is known of a wait for a limit.
type LimitWait struct {
	Waits      LimitClaim   `json:"waits" doc:"the claim that waits"`
	Held       int          `json:"held" doc:"claims of its key that are held"`
	Waiting    int          `json:"waiting" doc:"claims in its line"`
	Holders    []LimitClaim `json:"holders" doc:"the first few of those who hold what it waits for, that for longest first"`
	ExpectedAt *time.Time   `json:"expected_at,omitempty" doc:"an estimate of when it begins; absent if nobody can say"`
	Estimate   string       `json:"estimate" doc:"how that was computed, or why it was not"`
}

// LimitChange is the answer to a change of a limit.
type LimitChange struct {
	Name  string `json:"name,omitempty" doc:"name of the limit"`
	Key   string `json:"key,omitempty" doc:"the only key that it is about"`
	Claim string `json:"claim,omitempty" doc:"the claim that was released"`
	Text  string `json:"text,omitempty" doc:"what it bounds now, in words"`
	Done  string `json:"done" doc:"what was done: set, removed or released"`
}

// LimitsOf returns the records of a page's limits, without their keys and claims.
func LimitsOf(page *journal.LimitPage) []Limit {
	list, at := []Limit{}, map[string]int{}
	of := func(name string) *Limit {
		i, known := at[name]
		if !known {
			i = len(list)
			at[name] = i
			list = append(list, Limit{Name: name, Bounds: []LimitBounds{}, Capped: len(page.Uses) >= journal.ListMax})
		}
		return &list[i]
	}
	for i := range page.Limits {
		l := of(page.Limits[i].Name)
		l.Bounds = append(l.Bounds, LimitBoundsOf(&page.Limits[i]))
	}
	for i := range page.Uses {
		u := &page.Uses[i]
		l := of(u.Name)
		l.Held, l.Waiting, l.InUse = l.Held+u.Held, l.Waiting+u.Waiting, l.InUse+1
		if next := Moment(u.NextAt); u.Waiting > 0 && next != nil && (l.NextAt == nil || next.Before(*l.NextAt)) {
			l.NextAt = next
		}
	}
	return list
}

// LimitOf returns the record of one limit with its keys and claims, false if the page has nothing
// of it.
func LimitOf(page *journal.LimitPage) (Limit, bool) {
	list := LimitsOf(page)
	if len(list) != 1 {
		return Limit{}, false
	}
	l := list[0]
	for i := range page.Uses {
		u := &page.Uses[i]
		l.Keys = append(l.Keys, LimitKey{Key: u.Key, Held: u.Held, Waiting: u.Waiting, NextAt: Moment(u.NextAt)})
	}
	l.Claims = LimitClaimsOf(page.Claims)
	return l, true
}

// LimitBoundsOf returns the record of a row.
func LimitBoundsOf(l *journal.Limit) LimitBounds {
	return LimitBounds{Key: l.Key, Concurrency: l.Concurrency, Total: l.Total, Rate: RateText(l.Rate), Burst: l.Rate.Burst, Weight: l.Weight,
		Ageing: spanText(l.Ageing), MaxBacklog: l.MaxBacklog, OnFull: onFullText(l), At: l.Time, Actor: l.Actor, Reason: l.Reason, Text: LimitText(l)}
}

// onFullText is a word of journal.OnFullWords; empty where nothing is ever full.
func onFullText(l *journal.Limit) string {
	if l.MaxBacklog == 0 {
		return ""
	}
	return l.OnFull.String()
}

// LimitText says what a row bounds, without the name of the limit.
func LimitText(l *journal.Limit) string {
	nameless := *l
	nameless.Name = ""
	text := strings.TrimPrefix(nameless.String(), `limit ""`)
	return strings.TrimPrefix(strings.TrimPrefix(text, ", "), ": ")
}

// LimitClaimsOf returns the records of claims.
func LimitClaimsOf(list []journal.LimitClaim) []LimitClaim {
	out := []LimitClaim{}
	for i := range list {
		c := &list[i]
		out = append(out, LimitClaim{Claim: c.Handle(), Limit: c.Limit, Key: c.Key, Run: c.Run.String(), Step: c.Step, Cmd: int32(c.Cmd), Node: int32(c.Node),
			Cost: c.Cost, Priority: int(c.Priority), Since: c.Since, GrantedAt: Moment(c.Granted), Place: c.Place})
	}
	return out
}

// RateText is a rate as ParseRate reads it; empty for any rate.
func RateText(r journal.Rate) string {
	if r.IsZero() {
		return ""
	}
	return fmt.Sprintf("%d/%s", r.N, spanText(r.Per))
}

// ParseRate reads a rate: a number and a time, as in 100/1m. 0 is any rate. It has no burst.
func ParseRate(text string) (journal.Rate, error) {
	if text == "" || text == "0" {
		return journal.Rate{}, nil
	}
	wrong := fmt.Errorf("%q is no rate: it is a number and a time, as in 100/1m, or 0 for any: %w", text, journal.ErrInvalid)
	number, span, _ := strings.Cut(text, "/")
	n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
	if err != nil || n <= 0 {
		return journal.Rate{}, wrong
	}
	span = strings.TrimSpace(span)
	if span != "" && (span[0] < '0' || span[0] > '9') { // 100/m
		span = "1" + span
	}
	per, err := time.ParseDuration(span)
	if err != nil || per <= 0 {
		return journal.Rate{}, wrong
	}
	return journal.Rate{N: n, Per: per}, nil
}

// spanText is a time without parts that are nothing: 1m instead of 1m0s.
func spanText(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
