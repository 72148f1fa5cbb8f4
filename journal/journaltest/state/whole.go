package state

import (
	"context"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// Loader is a store or a journal.
type Loader interface {
	Load(ctx context.Context, requests []driver.LoadRequest) ([]driver.History, error)
}

// Whole reads a history and its inbox to their ends, page by page. Nobody may write meanwhile.
func Whole(ctx context.Context, l Loader, run journal.RunID) (driver.History, error) {
	all, err := load(ctx, l, driver.LoadRequest{Run: run})
	for err == nil && all.Err == nil && all.More {
		var page driver.History
		page, err = load(ctx, l, driver.LoadRequest{Run: run, AfterSeq: all.Events[len(all.Events)-1].Seq})
		page.Events = append(all.Events, page.Events...)
		all = page
	}
	for err == nil && all.Err == nil && all.MoreInbox {
		var page driver.History
		page, err = load(ctx, l, driver.LoadRequest{Run: run, InboxOnly: true, AfterInbox: all.Inbox[len(all.Inbox)-1].Number})
		all.Inbox, all.MoreInbox = append(all.Inbox, page.Inbox...), page.MoreInbox
	}
	return all, err
}

func load(ctx context.Context, l Loader, q driver.LoadRequest) (driver.History, error) {
	list, err := l.Load(ctx, []driver.LoadRequest{q})
	if err != nil {
		return driver.History{}, err
	}
	return list[0], nil
}
