package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/reprise-run/reprise/ui/record"
)

var limitColumns = []column[record.Limit]{
	{"LIMIT", func(_ *printer, r *record.Limit) string { return oneLine(r.Name, 60) }},
	{"HELD", func(_ *printer, r *record.Limit) string { return orMore(r.Held, r.Capped) }},
	{"WAITS", func(_ *printer, r *record.Limit) string { return orMore(r.Waiting, r.Capped) }},
	{"NEXT", func(p *printer, r *record.Limit) string { return p.maybe(r.NextAt) }},
	{"BOUNDS", func(_ *printer, r *record.Limit) string { return oneLine(boundsText(r), 100) }},
}

func orMore(n int, capped bool) string {
	if capped {
		return strconv.Itoa(n) + "+"
	}
	return strconv.Itoa(n)
}

// boundsText is what a limit bounds: all keys, and after that how many have bounds of their own.
func boundsText(r *record.Limit) string {
	text, own := "no bounds", 0
	for i := range r.Bounds {
		if b := &r.Bounds[i]; b.Key == "" {
			text = b.Text
		} else {
			own++
		}
	}
	switch own {
	case 0:
		return text
	case 1:
		return text + "; one key has its own"
	}
	return fmt.Sprintf("%s; %d keys have their own", text, own)
}

// limitText is a limit for people.
func limitText(p *printer, r *record.Limit) string {
	var f fields
	f.add("limit", clean(r.Name))
	for i := range r.Bounds {
		b := &r.Bounds[i]
		by := ""
		if b.Actor != "" {
			by = ", set by " + oneLine(b.Actor, 60) + " " + p.at(b.At)
		}
		if b.Reason != "" {
			by += ": " + oneLine(b.Reason, 200)
		}
		f.add("bounds", oneLine(b.Text, 200)+by)
	}
	f.add("held", orMore(r.Held, r.Capped))
	f.add("waits", orMore(r.Waiting, r.Capped))
	f.add("next", p.maybe(r.NextAt))
	if len(r.Keys) > 0 {
		f.head("keys")
		for i := range r.Keys {
			k := &r.Keys[i]
			text := fmt.Sprintf("%s: %d held, %d waiting", keyText(k.Key), k.Held, k.Waiting)
			if k.NextAt != nil {
				text += ", the rate lets the next begin " + p.at(*k.NextAt)
			}
			f.item("%s", text)
		}
	}
	claims(&f, "held by", r.Claims, func(c *record.LimitClaim) (string, bool) { return "since " + p.maybe(c.GrantedAt), c.GrantedAt != nil })
	claims(&f, "waiting", r.Claims, func(c *record.LimitClaim) (string, bool) {
		return fmt.Sprintf("in place %d, since %s", c.Place, p.at(c.Since)), c.GrantedAt == nil
	})
	return f.b.String()
}

// claims adds those claims of which say says something.
func claims(f *fields, head string, list []record.LimitClaim, say func(c *record.LimitClaim) (string, bool)) {
	for i := range list {
		c := &list[i]
		text, ok := say(c)
		if !ok {
			continue
		}
		if head != "" {
			f.head(head)
			head = ""
		}
		key, cost := "", ""
		if c.Key != "" {
			key = ", " + keyText(c.Key)
		}
		if c.Cost > 1 {
			cost = fmt.Sprintf(", cost %d", c.Cost)
		}
		f.item("%s  %s%s%s  %s", c.Claim, holder(c), key, cost, text)
	}
}

func keyText(key string) string {
	if key == "" {
		return "no key"
	}
	return fmt.Sprintf("key %q", oneLine(key, 100))
}

// holder says who has a claim.
func holder(c *record.LimitClaim) string {
	var b strings.Builder
	if c.Step != "" {
		fmt.Fprintf(&b, "step %s of ", oneLine(c.Step, 100))
	}
	fmt.Fprintf(&b, "run %s", c.Run)
	if c.Node != 0 {
		fmt.Fprintf(&b, " on node %d", c.Node)
	}
	return b.String()
}
