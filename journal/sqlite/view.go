package sqlite

import (
	"context"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// viewReadSQL reads what the view with a name is, and how many there are.
const viewReadSQL = `SELECT (SELECT v.address FROM reprise_views v WHERE v.name = ?), (SELECT count(*) FROM reprise_views)`

// viewSaveSQL saves a view.
const viewSaveSQL = `INSERT OR REPLACE INTO reprise_views (name, address, at, actor) VALUES (?, ?, ?, ?)`

// viewDeleteSQL deletes a view.
const viewDeleteSQL = `DELETE FROM reprise_views WHERE name = ?`

// viewsSQL reads all views, which are few, in the order of their names.
const viewsSQL = `SELECT v.name, v.address, v.at, v.actor FROM reprise_views v ORDER BY v.name`

// changeView saves or deletes a view. What has changed is in the audit, in the same transaction
// (J12).
func changeView(ctx context.Context, s *Store, a *driver.AdminAction) error {
	return s.write(ctx, 0, func(b *batch) error {
		var has string
		var exists bool
		var all int
		err := b.query(viewReadSQL, func(r row) error {
			exists, all = !r.null(0), int(r.int(1))
			if exists {
				has = r.text(0)
			}
			return nil
		}, a.View.Name)
		if err != nil {
			return err
		}
		changed, err := a.ViewChange(has, exists, all)
		if err != nil || !changed {
			return err
		}
		at := now()
		if a.Kind == driver.AdminDeleteView {
			_, err = b.exec(viewDeleteSQL, a.View.Name)
		} else {
			_, err = b.exec(viewSaveSQL, a.View.Name, a.View.Address, at.UnixMicro(), a.Actor)
		}
		if err != nil {
			return err
		}
		return note(b, a, "", a.ViewDetail(), at)
	})
}

// Views implements driver.Store.
func (s *Store) Views(ctx context.Context) (list []journal.View, err error) {
	err = s.read(ctx, func(c *conn) error {
		return c.query(viewsSQL, func(r row) error {
			list = append(list, journal.View{Name: r.text(0), Address: r.text(1), Time: r.time(2), Actor: r.text(3)})
			return nil
		})
	})
	return list, err
}
