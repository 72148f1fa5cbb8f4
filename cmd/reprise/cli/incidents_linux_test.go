package cli_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/cmd/reprise/cli"
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// scene is what a walk through an incident meets: a store, a program that is deployed on it, and
// somebody who types.
type scene struct {
	*clustertest.Cluster
	client *runtime.Client
	shell  *shell
	node   *clustertest.Node
	world  *world
}

// incidents are the walks of docs/incidents.md: what must be before, and what happens meanwhile.
var incidents = map[string]func(s *scene) map[string]func(){
	"1. Runs are blocked after a deployment":          blockedAfterADeploy,
	"2. A message that no code survives":              poisonSignal,
	"3. A wrong price in 300 runs":                    wrongPrice,
	"4. A partner was down":                           partnerDown,
	"5. A bad version charges twice":                  doubleCharge,
	"6. One customer takes all the room":              greedyCustomer,
	"7. A run ends every process that takes it":       killer,
	"8. Nobody serves what was started":               unserved,
	"9. Somebody's transaction holds a run":           heldRun,
	"10. A bulk job does the wrong thing":             wrongJob,
	"11. A region is lost, and the last hour with it": lostRegion,
	"13. An API was down, and its limit is full":      fullLimit,
}

// TestIncidents executes docs/incidents.md as it is written. The walks share a database, one after
// the other, and each leaves it in order: the first thing that an incident needs is an end.
func TestIncidents(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	list := readWalkthroughs(t, "../../../docs/incidents.md")
	told := map[string]bool{}
	for _, w := range list {
		told[w.title] = true
		prepare := incidents[w.title]
		if prepare == nil {
			continue // of another test
		}
		going := t.Run(w.title, func(t *testing.T) {
			s := &scene{Cluster: clustertest.On(t, dsn), world: &world{quota: make(chan struct{})}}
			s.client = runtime.NewClient(s.Journal, &runtime.ClientOptions{Logger: silent})
			s.shell = newShell(t, "REPRISE_STORE="+dsn)
			walk(t, w, s.shell, prepare(s))
			page, err := s.client.List(clustertest.Context(t), journal.ListFilter{Status: new(journal.Open)})
			if err != nil || len(page.Runs) > 0 {
				t.Errorf("the incident leaves %d open runs behind, %v", len(page.Runs), err)
			}
		})
		if !going { // what it leaves behind would be in the way of the others
			return
		}
	}
	for title := range incidents {
		if !told[title] {
			t.Errorf("the page has no incident %q", title)
		}
	}
	if len(list) < 10 {
		t.Errorf("the page has only %d incidents", len(list))
	}
}

// deploy puts a program in the place of the one that runs.
func (s *scene) deploy(register func(*runtime.Node), change ...func(*runtime.NodeOptions)) {
	s.T.Helper()
	if s.node != nil {
		s.node.Stop()
	}
	o := s.Options()
	o.Name, o.Drain = "shop-1", 100*time.Millisecond
	for _, f := range change {
		f(o)
	}
	s.node = s.Run(o, register)
}

// start starts runs with the keys NAME:FIRST to NAME:LAST.
func start[Out any](s *scene, name workflow.Name[string, Out], first, last int, o runtime.StartOptions) {
	s.T.Helper()
	for i := first; i <= last; i++ {
		o.Key = fmt.Sprintf("%s:%d", name, i)
		if _, err := runtime.Start(clustertest.Context(s.T), s.client, name, "", &o); err != nil {
			s.T.Fatal(err)
		}
	}
}

// send sends a signal to runs by their keys.
func send(s *scene, signal workflow.Signal[string], value string, keys ...string) {
	s.T.Helper()
	for _, key := range keys {
		run, err := s.client.FindKey(clustertest.Context(s.T), key)
		if err == nil {
			err = runtime.Signal(clustertest.Context(s.T), s.client, run, signal, value, nil)
		}
		if err != nil {
			s.T.Fatal(err)
		}
	}
}

// until waits until a filter selects so many runs.
func (s *scene) until(n int, where string) {
	s.T.Helper()
	ctx := clustertest.Context(s.T)
	got := -1
	defer func() {
		if got != n {
			s.T.Logf("%d runs are as %s", got, where)
		}
	}()
	clustertest.Until(s.T, fmt.Sprintf("%d runs are as %s", n, where), func() bool {
		page, err := s.client.List(ctx, journal.ListFilter{Where: where, Limit: journal.ListMax})
		if err != nil && ctx.Err() == nil {
			s.T.Fatal(err)
		}
		got = len(page.Runs)
		return got == n
	})
}

// untilBlocked waits until so many runs are blocked, and puts their next tries off: a run is not
// blocked in the moment in which it is tried.
func (s *scene) untilBlocked(n int64) {
	s.T.Helper()
	conn := s.Connect()
	clustertest.Until(s.T, fmt.Sprintf("%d runs are blocked", n), func() bool {
		tag, err := conn.Exec(context.Background(), `UPDATE reprise.tasks SET visible_at = now() + interval '1 hour' WHERE state = $1`, int16(journal.Blocked))
		if err != nil {
			s.T.Fatal(err)
		}
		return tag.RowsAffected() == n
	})
}

// exec executes a statement beside the command.
func (s *scene) exec(sql string) { execSQL(s.T, s.DSN, sql) }

func keys(name string, first, last int) (list []string) {
	for i := first; i <= last; i++ {
		list = append(list, fmt.Sprintf("%s:%d", name, i))
	}
	return list
}

func blockedAfterADeploy(s *scene) map[string]func() {
	before := ordersThat("reserve", "charge")
	s.deploy(before)
	start(s, orders, 1, 3, runtime.StartOptions{})
	s.until(3, `workflow = "order" and waiting = "signal packed"`)
	s.deploy(ordersThat("reserve", "check", "charge"))
	send(s, packed, "today", keys("order", 1, 3)...)
	s.untilBlocked(3)
	return map[string]func(){"the release before is deployed again": func() {
		s.deploy(before)
		s.until(3, `workflow = "order" and status = "completed"`)
	}}
}

func poisonSignal(s *scene) map[string]func() {
	s.deploy(handleAddressed)
	start(s, orders, 4, 4, runtime.StartOptions{})
	s.until(1, `key = "order:4" and waiting = "signal address"`)
	send(s, address, " ", "order:4")
	s.untilBlocked(1)
	return nil
}

func wrongPrice(s *scene) map[string]func() {
	s.world.price.Store(19)
	s.deploy(s.world.handleInvoices)
	start(s, invoices, 1, 300, runtime.StartOptions{})
	s.until(300, `workflow = "invoice" and waiting = "signal paid" and total = "19"`)
	return map[string]func(){
		"the price list is put right": func() { s.world.price.Store(1900) },
		"the invoices get their prices": func() {
			s.until(300, `workflow = "invoice" and waiting = "signal paid" and total = "1900"`)
		},
		"the invoices are paid": func() {
			send(s, paid, "today", keys("invoice", 1, 300)...)
			s.until(300, `workflow = "invoice" and status = "completed"`)
		},
	}
}

func partnerDown(s *scene) map[string]func() {
	s.deploy(s.world.handleMoney)
	start(s, payments, 1, 5, runtime.StartOptions{})
	start(s, refunds, 1, 4, runtime.StartOptions{})
	s.until(5, `status = "paused" and not node is set`) // one that its node still has says so
	s.until(4, `status = "failed"`)
	return map[string]func(){
		"the bank answers again": func() { s.world.bankIsUp.Store(true) },
		"the payments and the refunds go through": func() {
			s.until(9, `workflow in ("payment", "refund") and status = "completed"`)
		},
	}
}

func doubleCharge(s *scene) map[string]func() {
	s.deploy(s.world.subscriptionsThat(2))
	start(s, subscriptions, 1, 1, runtime.StartOptions{})
	start(s, subscriptions, 2, 3, runtime.StartOptions{Version: 2})
	s.until(3, `workflow = "subscription" and waiting = "signal renewed" and not node is set`)
	return map[string]func(){
		"a month begins": func() {
			send(s, renewed, "December", keys("subscription", 1, 3)...)
			s.until(1, `workflow = "subscription" and status = "completed"`)
		},
		"version 2 is repaired and deployed": func() { s.deploy(s.world.subscriptionsThat(1)) },
		"the others go on": func() {
			s.until(3, `workflow = "subscription" and status = "completed"`)
			if n := s.world.charges.Load(); n != 3 {
				s.T.Errorf("3 subscriptions were charged %d times", n)
			}
		},
	}
}

func greedyCustomer(s *scene) map[string]func() {
	s.deploy(s.world.handleImports, func(o *runtime.NodeOptions) { o.LiveMax, o.StepsMax = 4, 4 })
	start(s, imports, 1, 40, runtime.StartOptions{Queue: "imports", Labels: map[string]string{"customer": "acme"}})
	s.until(4, `workflow = "import" and node is set`)
	start(s, orders, 10, 10, runtime.StartOptions{})
	return map[string]func(){
		"the orders go on": func() { s.until(1, `key = "order:10" and waiting = "signal packed"`) },
		"the imports get the room that is left": func() {
			close(s.world.quota)
			s.until(40, `workflow = "import" and status = "completed"`)
			send(s, packed, "today", "order:10")
			s.until(1, `key = "order:10" and status = "completed"`)
		},
	}
}

func unserved(s *scene) map[string]func() {
	s.deploy(ordersThat("reserve"))
	return map[string]func(){
		"a program with version 2 is deployed beside the other one": func() {
			o := s.Options()
			o.Name = "shop-2"
			s.Run(o, func(n *runtime.Node) {
				runtime.Handle(n, orders, func(workflow.Context, string) (string, error) { return "sent", nil }, &runtime.HandleOptions{Version: 2})
			})
			s.until(1, `key = "order:20" and status = "completed"`)
		},
	}
}

// heldRun is held by what a report that was never ended has locked.
func heldRun(s *scene) map[string]func() {
	s.deploy(ordersThat("reserve"))
	start(s, orders, 30, 30, runtime.StartOptions{})
	s.until(1, `key = "order:30" and waiting = "signal packed"`)
	conn := s.Connect()
	for _, sql := range []string{`SET application_name = 'month-end'`, `BEGIN`, `SELECT FROM reprise.tasks FOR UPDATE`} {
		if _, err := conn.Exec(context.Background(), sql); err != nil {
			s.T.Fatal(err)
		}
	}
	return nil
}

// wrongJob is one that somebody else has begun, slowly enough.
func wrongJob(s *scene) map[string]func() {
	s.deploy(ordersThat("reserve"))
	start(s, orders, 40, 59, runtime.StartOptions{})
	s.until(20, `workflow = "order" and waiting = "signal packed"`)
	job := command(s.T, s.DSN, "bulk", "terminate", "--where", `workflow = "order"`, "--rate", "0.2", "--key", "cleanup", "--yes")
	if err := job.Start(); err != nil {
		s.T.Fatal(err)
	}
	clustertest.Until(s.T, "the job has done something", func() bool {
		page, err := s.client.List(clustertest.Context(s.T), journal.ListFilter{Where: `status = "terminated" and key starts with "order:"`})
		return err == nil && len(page.Runs) > 0
	})
	return map[string]func(){
		"the job ends, where somebody had started it": func() {
			if _ = job.Wait(); job.ProcessState.ExitCode() != cli.ExitFailed {
				s.T.Errorf("the aborted job ends with %d", job.ProcessState.ExitCode())
			}
		},
		"all orders are packed": func() {
			send(s, packed, "today", keys("order", 40, 59)...)
			s.until(20, `workflow = "order" and status = "completed" and key in ("`+strings.Join(keys("order", 40, 59), `", "`)+`")`)
		},
	}
}

// killer ends two processes. Eight deaths more, each of which is waited for longer than the one
// before, are entered by hand between the two.
func killer(s *scene) map[string]func() {
	s.deploy(ordersThat("reserve")) // finds the deaths
	start(s, exports, 1, 1, runtime.StartOptions{})
	dies := func() {
		cmd := command(s.T, s.DSN)
		cmd.Env = append(cmd.Env, programEnv+"=exports")
		if got := finish(s.T, cmd); got.code != exitOfExports {
			s.T.Fatalf("the process ends with %d: %s", got.code, got.err)
		}
	}
	dies()
	s.until(1, `key = "export:1" and not node is set`)
	s.exec(fmt.Sprintf(`UPDATE reprise.tasks SET strikes = %d, visible_at = now() WHERE strikes = 1`, driver.QuarantineStrikes-1))
	dies()
	s.until(1, `status = "quarantined"`)
	return map[string]func(){"the export is repaired and deployed": func() { s.deploy(handleExports(true)) }}
}

// lostRegion ends the database under a program, and goes on with a copy.
func lostRegion(s *scene) map[string]func() {
	elsewhere := pgtest.Empty(s.T)
	s.shell.env = append(s.shell.env, "ELSEWHERE="+elsewhere)
	s.deploy(ordersThat("reserve"))
	start(s, orders, 60, 61, runtime.StartOptions{})
	s.until(2, `workflow = "order" and waiting = "signal packed"`)
	return map[string]func(){
		"order 61 is packed, and order 62 comes": func() {
			send(s, packed, "today", "order:61")
			start(s, orders, 62, 62, runtime.StartOptions{})
			s.until(1, `key = "order:61" and status = "completed"`)
			s.until(1, `key = "order:62" and waiting = "signal packed"`)
		},
		"the region is lost": func() {
			s.node.Stop()
		},
		"the programs are deployed elsewhere": func() {
			lost := s.client
			s.Cluster, s.node = clustertest.On(s.T, elsewhere), nil
			s.client = runtime.NewClient(s.Journal, &runtime.ClientOptions{Logger: silent})
			s.deploy(ordersThat("reserve"))
			for _, key := range keys("order", 60, 62) {
				if run, err := lost.FindKey(clustertest.Context(s.T), key); err == nil {
					_ = lost.Terminate(clustertest.Context(s.T), run, "nobody looks at it any more")
				}
			}
		},
		"the other parcels are packed as well": func() {
			send(s, packed, "today", "order:60", "order:62")
			s.until(3, `workflow = "order" and status = "completed" and key in ("order:60", "order:61", "order:62")`)
			pgtest.Check(s.T, elsewhere, "reprise")
		},
	}
}
