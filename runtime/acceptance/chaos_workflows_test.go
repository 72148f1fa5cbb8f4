package acceptance_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

// Workflows of three levels: a house has branches, and those have twigs. Twigs below zero fail, and
// count as twigFails.
const (
	house  workflow.Name[int, int]    = "house"
	branch workflow.Name[int, int]    = "branch"
	twig   workflow.Name[int, int]    = "twig"
	rival  workflow.Name[string, int] = "rival" // starts a child with a key that others want too; 1 if it got it

	houseWidth = 4
	twigFails  = 1000
)

// Workflows about the end of parents: a landlord has a tenant of each close policy, which has
// subtenants of each.
const (
	landlord workflow.Name[ending, string] = "landlord"
	tenant   workflow.Name[int, string]    = "tenant"  // with so many levels below
	ready    workflow.Signal[int]          = "ready"   // from a child to its parent
	released workflow.Signal[int]          = "release" // lets a tenant end
)

// ending is how a landlord ends.
type ending string

const (
	endCompleted  ending = "completed"
	endFailed     ending = "failed"
	endCancelled  ending = "cancelled"  // asked from outside
	endTerminated ending = "terminated" // by an operator
	endContinued  ending = "continued"  // completes in its next generation, which has not started the children
)

// A desk receives numbered signals from clients and from its courier, and posts; it begins a new
// generation every few signals.
const (
	desk    workflow.Name[ledgers, ledgers] = "desk"
	courier workflow.Name[parcel, int]      = "courier"
	dated   workflow.Signal[int]            = "dated" // of sender i%deskSenders, the number i/deskSenders
	fin     workflow.Signal[int]            = "fin"
	post    workflow.Update[int, int]       = "post" // a number above zero, which is posted once
	peek    workflow.Query[int, ledgers]    = "peek"

	deskSenders = 3 // the last one is the courier
	deskEach    = 24
	deskTurn    = 5 // signals in a generation
)

// ledgers is what a desk has seen.
type ledgers struct {
	Got   []int `json:"got"` // newest number of each sender
	Posts []int `json:"posts"`
}

func (l *ledgers) complete() bool { return slices.Min(l.Got) == deskEach }

// parcel is what a courier brings, from a number on.
type parcel struct {
	To   journal.RunID `json:"to"`
	From int           `json:"from"`
}

const marksSchema = `CREATE TABLE marks (run uuid NOT NULL, what text NOT NULL, value bigint NOT NULL, pid int NOT NULL)`

// mark writes a mark, once.
func mark(ctx workflow.Context, what string, value int64) error {
	_, err := workflow.StepTx(ctx, what, func(ctx context.Context, tx pgx.Tx) (int, error) {
		info, _ := workflow.StepInfo(ctx)
		_, err := tx.Exec(ctx, `INSERT INTO marks VALUES ($1, $2, $3, $4)`, info.Run.String(), what, value, os.Getpid())
		return 0, err
	}, &workflow.StepOptions{Retry: &workflow.RetryPolicy{Initial: 20 * time.Millisecond}})
	return err
}

func handleFamilies(n *runtime.Node, o *runtime.HandleOptions) {
	runtime.Handle(n, house, houses, o)
	runtime.Handle(n, branch, branches, o)
	runtime.Handle(n, twig, twigs, o)
	runtime.Handle(n, rival, rivals, o)
	runtime.Handle(n, landlord, landlords, o)
	runtime.Handle(n, tenant, tenants, o)
	runtime.Handle(n, desk, desks, o)
	runtime.Handle(n, courier, couriers, o)
}

func houses(ctx workflow.Context, first int) (int, error) {
	items := make([]int, houseWidth)
	for i := range items {
		items[i] = first + i
	}
	all, err := workflow.Map(ctx, items, func(ctx workflow.Context, v int) (int, error) {
		return workflow.Call(ctx, branch, v, nil)
	}, &workflow.MapOptions{Limit: 3})
	sum := 0
	for _, v := range all {
		sum += v
	}
	return sum, errors.Join(err, mark(ctx, "house", int64(sum)))
}

func branches(ctx workflow.Context, v int) (int, error) {
	if !workflow.Changed(ctx, "ask both") {
		return 0, errors.New("a change that every run has was not made")
	}
	good := workflow.CallAsync(ctx, twig, v, nil)
	bad := workflow.CallAsync(ctx, twig, -v, &workflow.ChildOptions{Delay: time.Duration(v%3) * 5 * time.Millisecond})
	if err := mark(ctx, "branch", int64(v)); err != nil {
		return 0, err
	}
	_, err := bad.Get(ctx)
	if failed, ok := errors.AsType[*workflow.ChildError](err); !ok || failed.Run != bad.ID() {
		return 0, fmt.Errorf("the bad twig ended with %w", err)
	}
	got, err := good.Get(ctx)
	return got + twigFails, err
}

func wantOfHouse(first int) (sum int) {
	for i := range houseWidth {
		sum += first + i + twigFails
	}
	return sum
}

// twigs marks a value that is drawn once, twice.
func twigs(ctx workflow.Context, v int) (int, error) {
	token := workflow.SideEffect(ctx, "token", rand.Int64)
	if err := mark(ctx, "twig before", token); err != nil {
		return 0, err
	}
	nap := time.Duration(max(v, -v)%20) * time.Millisecond
	if v%7 == 0 {
		nap = 1200 * time.Millisecond
	}
	if err := workflow.Sleep(ctx, nap); err != nil {
		return 0, err
	}
	if err := mark(ctx, "twig after", token); err != nil {
		return 0, err
	}
	if v < 0 {
		return 0, errors.New("below zero")
	}
	return v, nil
}

func rivals(ctx workflow.Context, key string) (int, error) {
	if err := mark(ctx, "rival", 0); err != nil {
		return 0, err
	}
	_, err := workflow.Call(ctx, twig, 1, &workflow.ChildOptions{Key: key})
	switch {
	case err == nil:
		return 1, nil
	case errors.Is(err, workflow.ErrKeyExists):
		return 0, nil
	}
	return 0, err
}

// lodge starts a tenant of each policy and waits until all have marked. Their end is up to the
// policies.
func lodge(ctx workflow.Context, levels int) error {
	for _, policy := range []workflow.ClosePolicy{workflow.CloseCancel, workflow.CloseTerminate, workflow.CloseAbandon} {
		workflow.CallAsync(ctx, tenant, levels, &workflow.ChildOptions{OnParentClose: policy, OnCancel: workflow.Abandon})
	}
	for range 3 {
		if _, err := ready.Receive(ctx); err != nil {
			return err
		}
	}
	return nil
}

func landlords(ctx workflow.Context, end ending) (string, error) {
	if ctx.Info().Generation == 1 {
		if err := lodge(ctx, 1); err != nil {
			return "", err
		}
	}
	if err := mark(ctx, fmt.Sprint("settled ", ctx.Info().Generation), 0); err != nil {
		return "", err
	}
	switch {
	case end == endFailed:
		return "", errors.New("as planned")
	case end == endContinued && ctx.Info().Generation == 1:
		return "", workflow.ContinueAsNew(ctx, landlord, end, nil)
	case end == endCompleted || end == endContinued:
		return "gone", nil
	}
	_, err := released.Receive(ctx)
	return "", err
}

func tenants(ctx workflow.Context, levels int) (string, error) {
	if levels > 0 {
		if err := lodge(ctx, levels-1); err != nil {
			return "", err
		}
	}
	if err := mark(ctx, "moved in", 0); err != nil {
		return "", err
	}
	if err := ready.Send(ctx, ctx.Info().Parent.Run, levels); err != nil {
		return "", err
	}
	if _, err := released.Receive(ctx); err != nil {
		return "", errors.Join(err, mark(workflow.Shield(ctx), "evicted", 0))
	}
	return "released", nil
}

func couriers(ctx workflow.Context, p parcel) (int, error) {
	for i := p.From; i <= deskEach; i++ {
		if i == p.From+9 {
			return 0, workflow.ContinueAsNew(ctx, courier, parcel{p.To, i}, nil)
		}
		if i%4 == 0 {
			if err := mark(ctx, fmt.Sprint("packed ", i), 0); err != nil {
				return 0, err
			}
		}
		if err := dated.Send(ctx, p.To, i*deskSenders+deskSenders-1); err != nil {
			return 0, err
		}
	}
	return deskEach, nil
}

func desks(ctx workflow.Context, l ledgers) (ledgers, error) {
	gen := ctx.Info().Generation
	peek.Handle(ctx, func(int) (ledgers, error) { return l, nil })
	l.answerPosts(ctx)
	stays := &workflow.ChildOptions{OnParentClose: workflow.CloseAbandon}
	if gen == 1 {
		workflow.CallAsync(ctx, courier, parcel{ctx.Info().Run, 1}, stays)
	}
	if gen%4 == 1 { // its outcome comes to this generation, or too late
		workflow.CallAsync(ctx, twig, int(gen), stays)
	}
	for n := 0; ; n++ {
		if err := workflow.Await(ctx, func() bool { return dated.Pending(ctx) > 0 || l.complete() && fin.Pending(ctx) > 0 }); err != nil {
			return l, err
		}
		if l.complete() {
			return l, workflow.HandlersFinished(ctx)
		}
		if n == deskTurn {
			if err := workflow.HandlersFinished(ctx); err != nil { // a post that is cut off would be aborted
				return l, err
			}
			return l, workflow.ContinueAsNew(ctx, desk, l, nil)
		}
		if err := l.receive(ctx); err != nil {
			return l, err
		}
	}
}

// receive takes a signal, which must be its sender's next.
func (l *ledgers) receive(ctx workflow.Context) error {
	v, err := dated.Receive(ctx)
	if err != nil {
		return err
	}
	from, value := v%deskSenders, v/deskSenders
	if value != l.Got[from]+1 {
		return fmt.Errorf("generation %d, sender %d: %d after %d", ctx.Info().Generation, from, value, l.Got[from])
	}
	l.Got[from] = value
	if value%3 > 0 {
		return nil
	}
	return mark(ctx, fmt.Sprint("dated ", v), 0)
}

func (l *ledgers) answerPosts(ctx workflow.Context) {
	post.Handle(ctx, func(ctx workflow.Context, v int) (int, error) {
		if v%3 == 0 {
			if err := workflow.Sleep(ctx, 5*time.Millisecond); err != nil {
				return 0, err
			}
		}
		if err := mark(ctx, fmt.Sprint("post ", v), int64(v)); err != nil {
			return 0, err
		}
		if slices.Contains(l.Posts, v) {
			return 0, fmt.Errorf("%d was posted before", v)
		}
		l.Posts = append(l.Posts, v)
		if v%2 == 0 {
			if err := workflow.Sleep(ctx, time.Millisecond); err != nil {
				return 0, err
			}
		}
		return v + 1, nil
	}, &workflow.UpdateOptions[int]{Validate: func(v int) error {
		if v <= 0 {
			return fmt.Errorf("%d is not positive", v)
		}
		return nil
	}})
}
