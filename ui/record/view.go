package record

import (
	"time"

	"github.com/reprise-run/reprise/journal"
)

// View is an address of a page that somebody has saved.
type View struct {
	Name    string    `json:"name" doc:"what it is called"`
	Address string    `json:"address" doc:"a path and a query below the pages"`
	At      time.Time `json:"at" doc:"when it was saved"`
	Actor   string    `json:"actor,omitempty" doc:"who has saved it, as the program said"`
}

// ViewChange is the answer to a change of a view.
type ViewChange struct {
	Name string `json:"name" doc:"what the view is called"`
	Done string `json:"done" doc:"what was done: saved or deleted"`
}

// ViewsOf returns the records of views.
func ViewsOf(list []journal.View) []View {
	out := []View{}
	for i := range list {
		v := &list[i]
		out = append(out, View{Name: v.Name, Address: v.Address, At: v.Time, Actor: v.Actor})
	}
	return out
}
