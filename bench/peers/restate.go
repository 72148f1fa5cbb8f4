package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	restate "github.com/restatedev/sdk-go"
	"github.com/restatedev/sdk-go/ingress"
	restateserver "github.com/restatedev/sdk-go/server"
)

// restateEngine is Restate: a server with a log of its own, which calls the handlers of this process over HTTP/2 and
// journals their steps. It needs no database.
type restateEngine struct{}

type restateSystem struct {
	address string
	call    ingress.Requester[Input, int64]
}

const (
	restateService = "chain"
	restateHandler = "run"
)

var errRestateCalls = errors.New("only calls that wait for their result are measured on Restate")

func (restateEngine) Name() string         { return "Restate" }
func (restateEngine) Module() string       { return "github.com/restatedev/sdk-go" }
func (restateEngine) Does(w Workload) bool { return w == Chain || w == Latency }
func (restateEngine) Queued(int) int       { return 0 }

// InFlight, found by trying 64, 256, 512 and 1,000 with each number of steps.
func (restateEngine) InFlight(_ Setup, steps int) int {
	switch {
	case steps < 3:
		return 64
	case steps < longSteps:
		return 512
	}
	return 1000
}

func (restateEngine) Settings(Setup) string {
	return "its own server on its own log (no Postgres), one node, one partition (default 24), local log (default replicated), fsync on, statistics, " +
		"telemetry and metrics off, Unix sockets; handlers and steps by its Go SDK in this process"
}

// host implements hosted.
func (restateEngine) host(ctx context.Context) (site, error) { return newRestateHost(ctx) }

func (restateEngine) Open(_ context.Context, s Setup) (System, error) {
	client := ingress.NewClient(restateURL, ingress.WithHttpClient(restateClient(s.DSN, restateIngress)))
	return &restateSystem{s.DSN, ingress.Service[Input, int64](client, restateService, restateHandler)}, nil
}

func restateRun(ctx restate.Context, in Input) (int64, error) {
	v := in.N
	for i := range in.Steps {
		next, err := restate.Run(ctx, func(restate.RunContext) (int64, error) { return body.step(i, v), nil }, restate.WithName("add"))
		if err != nil {
			return 0, err
		}
		v = next
	}
	return v, nil
}

// Work serves the handler on a free port and tells the server where it is. Then it makes a call: the server's partition
// may still be about to start.
func (r *restateSystem) Work(ctx context.Context) error {
	endpoint := restateserver.NewRestate().WithLogger(logger.Handler(), true).
		Bind(restate.NewService(restateService).Handler(restateHandler, restate.NewServiceHandler(restateRun)))
	handler, err := endpoint.Handler()
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	web := &http.Server{Handler: handler, Protocols: new(http.Protocols), ReadHeaderTimeout: 5 * time.Second}
	web.Protocols.SetUnencryptedHTTP2(true)
	go web.Serve(listener) // until the process ends
	if err := r.deploy(ctx, "http://"+listener.Addr().String()); err != nil {
		return err
	}
	in := Input{Steps: 1}
	result, err := r.Run(ctx, in)
	return errors.Join(err, in.check(result))
}

// deploy makes the server send new calls to an address. Those of its database were made by processes that have ended.
func (r *restateSystem) deploy(ctx context.Context, uri string) error {
	text, err := json.Marshal(map[string]any{"uri": uri, "force": true})
	if err != nil {
		return err
	}
	admin := restateClient(r.address, restateAdmin)
	return poll(ctx, func() (bool, error) {
		answer, err := admin.Post(restateURL+"/deployments", "application/json", bytes.NewReader(text))
		if err != nil {
			return false, err
		}
		defer answer.Body.Close()
		why, err := io.ReadAll(answer.Body)
		switch {
		case err != nil:
			return false, err
		case answer.StatusCode == http.StatusServiceUnavailable:
			return false, nil // the server is about to start
		case answer.StatusCode >= http.StatusBadRequest:
			return false, fmt.Errorf("deploy %s: %s: %s", uri, answer.Status, why)
		}
		return true, nil
	})
}

func (r *restateSystem) Run(ctx context.Context, in Input) (int64, error) {
	return r.call.Request(ctx, in)
}

func (*restateSystem) Start(context.Context, Input) error { return errRestateCalls }

func (*restateSystem) Queue(context.Context, []Input) error { return errRestateCalls }

func (restateEngine) ClosedSQL() string { return "" }

func (restateEngine) StoredSQL() string { return "" }

func (restateEngine) Decode(_, _ []byte) (n, result int64, err error) { return 0, 0, errRestateCalls }
