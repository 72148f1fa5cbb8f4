package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/sqlite"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/ui"
)

// dashboard serves the shop's dashboard, and returns what waits until the program is interrupted
// and ends the dashboard. Whoever reaches the address may do everything, so one without a host is
// this machine's own: a program with users says who they are in ui.Options.
func dashboard(ctx context.Context, at string, node *runtime.Node, store *sqlite.Store, out io.Writer) (wait func(), err error) {
	if at[0] == ':' {
		at = "127.0.0.1" + at
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", at)
	if err != nil {
		return nil, err
	}
	o := &ui.Options{Title: "The shop"}
	o.API.Node = node // answers queries, and proves what a reset keeps
	o.API.Backlog = func(ctx context.Context) ([]driver.Backlog, error) { return sqlite.Backlog(ctx, store) }
	server := &http.Server{
		Handler: ui.New(node.Client(), o), ReadHeaderTimeout: 10 * time.Second,
		BaseContext: func(net.Listener) context.Context { return ctx }, // streams end with it
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	fmt.Fprintf(out, "The dashboard is http://%s/\n", l.Addr())
	return func() {
		fmt.Fprintln(out, "The dashboard is served until you interrupt the program.")
		<-ctx.Done()
		_ = server.Shutdown(context.WithoutCancel(ctx))
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			fmt.Fprintln(out, err)
		}
	}, nil
}
