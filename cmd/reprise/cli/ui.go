package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os/user"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/ui"
)

// uiFlags are the flags of the verb ui.
type uiFlags struct {
	listen, title                     string
	readOnly, hideInputs, unprotected bool
}

func uiVerb(a *app) *cobra.Command {
	var f uiFlags
	c := &cobra.Command{
		Use: "ui", Short: "Serve the dashboard until it is interrupted", Args: cobra.NoArgs,
		Long: `Serve the dashboard, and the HTTP API below it, until it is interrupted. It prints the
address when it can be called.

Whoever reaches the address may do everything there, in the name of the user who has
started it, so it listens where only this machine reaches it. To listen elsewhere say
--unprotected, or mount the dashboard in a program that knows its users: docs/dashboard.md.

Without --read-only it is also a node, for bulk jobs alone.`,
		Example: `  reprise ui --store postgres://user@host/database
  reprise ui --store demo.db --read-only --listen 127.0.0.1:9000`,
	}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		serve := func(c *call, _ []string) error { return c.serveUI(&f) }
		if f.readOnly {
			return a.reads(serve)(cmd, args)
		}
		return a.serves(serve)(cmd, args)
	}
	c.Flags().StringVar(&f.listen, "listen", "127.0.0.1:8080", "address to listen on; with port 0 a free one")
	c.Flags().StringVar(&f.title, "title", "", "title of the pages, to tell one dashboard from another")
	c.Flags().BoolVar(&f.readOnly, "read-only", false, "refuse whatever writes")
	c.Flags().BoolVar(&f.hideInputs, "hide-inputs", false, "leave out what was given to runs")
	c.Flags().BoolVar(&f.unprotected, "unprotected", false, "also listen where others reach it, who may do everything then")
	waitsForEver(a, c)
	return c
}

// serveUI serves the dashboard, and executes bulk jobs meanwhile.
func (c *call) serveUI(f *uiFlags) error {
	l, local, err := c.listenUI(f)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(c.ctx)
	defer stop()
	served := make(chan error, 1)
	go func() {
		defer stop() // without its node the dashboard would take jobs that nobody executes
		if f.readOnly {
			<-ctx.Done()
			served <- nil
			return
		}
		served <- c.jobNode("reprise ui").Run(ctx)
	}()
	handler := ui.New(c.client, c.uiOptions(f))
	if local {
		handler = onlyLocal(handler)
	}
	s := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, BaseContext: func(net.Listener) context.Context { return ctx }}
	context.AfterFunc(ctx, func() { _ = s.Shutdown(context.WithoutCancel(ctx)) }) // streams end with the base context
	fmt.Fprintf(c.OutOrStdout(), "http://%s/\n", l.Addr())
	err = s.Serve(l)
	stop()
	if e := <-served; e != nil {
		return e
	}
	if errors.Is(err, http.ErrServerClosed) {
		return c.a.ended(c.ctx)
	}
	return err
}

// ended is how a verb ends that goes on until it is interrupted: well, but for its --timeout.
func (a *app) ended(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return ctx.Err()
	}
	return nil
}

// listenUI listens, and tells whether only this machine can call.
func (c *call) listenUI(f *uiFlags) (l net.Listener, local bool, err error) {
	if l, err = new(net.ListenConfig).Listen(c.ctx, "tcp", f.listen); err != nil {
		return nil, false, usage(c.Command, "--listen: %v", err)
	}
	at, ok := l.Addr().(*net.TCPAddr)
	local = ok && at.IP.IsLoopback()
	if !local && !f.unprotected {
		_ = l.Close()
		return nil, false, usage(c.Command, "--listen %s is reached from other machines, and whoever calls may do everything; say --unprotected if that is meant", f.listen)
	}
	return l, local, nil
}

func (c *call) uiOptions(f *uiFlags) *ui.Options {
	o := &ui.Options{Title: f.title}
	o.API.ReadOnly, o.API.HideInputs = f.readOnly, f.hideInputs
	o.API.Auth = func(*http.Request) (string, error) { return uiActor(), nil }
	if c.a.o.Register != nil {
		o.API.Node = c.node()
	}
	if _, err := c.backlog(); !errors.Is(err, errNoBacklog) {
		o.API.Backlog = func(ctx context.Context) ([]driver.Backlog, error) {
			asked := *c
			asked.ctx = ctx
			return asked.backlog()
		}
	}
	return o
}

// uiActor is who acts through the dashboard of the command: the user who has started it.
func uiActor() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username + " by reprise ui"
	}
	return "reprise ui"
}

// onlyLocal refuses requests under another name than that of this machine: a page of another site
// can give its own name the address 127.0.0.1, and is of the same origin as the dashboard then.
func onlyLocal(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = strings.Trim(r.Host, "[]")
		}
		ip := net.ParseIP(host)
		if host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			http.Error(w, fmt.Sprintf("the dashboard of this machine is not called %q: use the address that reprise ui has printed", host), http.StatusForbidden)
			return
		}
		h.ServeHTTP(w, r)
	})
}
