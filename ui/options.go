package ui

import (
	"cmp"

	"github.com/reprise-run/reprise/ui/api"
)

// Options of a dashboard. The zero value means the defaults.
type Options struct {
	// Title stands in the window's title and beside the navigation, to tell one dashboard from
	// another: "Shop, production". Default: "Reprise".
	Title string
	// Prefix is what a router leaves in the path before what is the dashboard's, for routers that
	// pass the whole path: "/reprise". A path without it is taken as it is. Default: nothing, which
	// is right with http.StripPrefix.
	Prefix string
	// API says who may do what, and what is shown: Auth, Allow, ReadOnly, HideInputs, Redact, Node
	// and Backlog are those that most programs need.
	API api.Options
}

// withDefaults returns a copy.
func (o *Options) withDefaults() Options {
	var c Options
	if o != nil {
		c = *o
	}
	c.Title = cmp.Or(c.Title, titleDefault)
	return c
}

// titleDefault is the title of a dashboard that has no other.
const titleDefault = "Reprise"
