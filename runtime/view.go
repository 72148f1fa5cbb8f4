package runtime

import (
	"context"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// Views lists the saved views by their names: addresses of pages that people have saved.
func Views(ctx context.Context, c *Client) ([]journal.View, error) { return c.j.Views(ctx) }

// SaveView saves an address under a name, instead of the one that the name had. See journal.View
// for what an address is. The audit has who did it.
//
// Errors: journal.ErrInvalid for a name or an address that cannot be saved, and for one view too
// many; ctx's.
func SaveView(ctx context.Context, c *Client, name, address string) error {
	return changeView(ctx, c, SaveViewCall, driver.AdminAction{Kind: driver.AdminSaveView, View: &journal.View{Name: name, Address: address}})
}

// DeleteView deletes a saved view. Errors: journal.ErrNoView; ctx's.
func DeleteView(ctx context.Context, c *Client, name string) error {
	return changeView(ctx, c, DeleteViewCall, driver.AdminAction{Kind: driver.AdminDeleteView, View: &journal.View{Name: name}})
}

func changeView(ctx context.Context, c *Client, kind CallKind, a driver.AdminAction) error {
	_, err := intercepted(ctx, c, Call{Kind: kind, Name: a.View.Name}, func(ctx context.Context, _ *Call) (none struct{}, err error) {
		a.Actor, a.Reason = c.Actor(ctx), reasonOf(ctx, "")
		_, err = c.j.Admin(ctx, a)
		return none, err
	})
	return err
}
