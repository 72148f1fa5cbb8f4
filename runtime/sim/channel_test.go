package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
)

// pipe sends values to itself, one after the other.
func (p *interpreter) pipe(ctx workflow.Context, in *instr) error {
	values := workflow.NewChannel[int](in.Max%2, "")
	var failed error
	workflow.Go(ctx, func(ctx workflow.Context) {
		defer values.Close()
		for i := range in.Max {
			if failed = workflow.Sleep(ctx, in.For/time.Duration(in.Max)); failed != nil {
				return
			}
			if failed = values.Send(ctx, i); failed != nil {
				return
			}
		}
	})
	var got []int
	for {
		v, ok, err := values.Receive(ctx)
		if err == nil && !ok {
			err = failed
		}
		if err != nil || !ok {
			return p.ended(in, fmt.Sprint(got), err)
		}
		got = append(got, v)
	}
}

// exchange is values on their way through two channels.
type exchange struct {
	p           *interpreter
	in          *instr
	left, right *workflow.Channel[int]
	got         []int
	failed      error
}

// exchange sends each value through the channel that is ready first, to two strands.
func (p *interpreter) exchange(ctx workflow.Context, in *instr) error {
	x := &exchange{
		p: p, in: in, left: workflow.NewChannel[int](in.Max%2, "left"), right: workflow.NewChannel[int](in.Max/2%2, "right"),
	}
	var wg workflow.WaitGroup
	wg.Go(ctx, x.send)
	for range 2 {
		wg.Go(ctx, x.receive)
	}
	if err := wg.Wait(workflow.Shield(ctx)); err != nil {
		return err
	}
	slices.Sort(x.got)
	return p.ended(in, fmt.Sprint(x.got), x.failed)
}

func (x *exchange) send(ctx workflow.Context) {
	defer x.left.Close()
	defer x.right.Close()
	for i := range x.in.Max {
		if i%3 == 0 {
			if x.fail(workflow.Sleep(ctx, x.in.For/time.Duration(x.in.Max))) {
				return
			}
		}
		if i%2 == 0 {
			sent, err := x.left.TrySend(ctx, i)
			if x.fail(err) {
				return
			}
			if sent {
				continue
			}
		}
		chosen := -1
		at, err := workflow.Select(ctx,
			workflow.OnSend(x.left, i, func() { chosen = 0 }), workflow.OnSend(x.right, i, func() { chosen = 1 }))
		if x.fail(err) {
			return
		}
		if at != chosen {
			x.p.wrong(x.in, "select returns %d, and did %d", at, chosen)
		}
		if x.left.Len() > x.in.Max%2 {
			x.p.wrong(x.in, "a channel for %d has %d values", x.in.Max%2, x.left.Len())
		}
	}
}

// receive takes values until both channels are closed. Those of one channel come to it in the order
// in which they were sent.
func (x *exchange) receive(ctx workflow.Context) {
	left, right := x.left, x.right
	newest := map[*workflow.Channel[int]]int{}
	took := func(from *workflow.Channel[int], v int) {
		if last, some := newest[from]; some && v < last {
			x.p.wrong(x.in, "value %d came after %d", v, last)
		}
		newest[from] = v
		x.got = append(x.got, v)
	}
	for left != nil || right != nil {
		if left != nil {
			v, ok, err := left.TryReceive(ctx)
			if x.fail(err) {
				return
			}
			if ok {
				took(left, v)
			}
		}
		gone := func(c **workflow.Channel[int]) func(int, bool) {
			return func(v int, ok bool) {
				switch {
				case ok:
					took(*c, v)
				case !(*c).Closed() || (*c).Len() > 0:
					x.p.wrong(x.in, "the end of a channel that is closed %t and has %d values", (*c).Closed(), (*c).Len())
					fallthrough
				default:
					*c = nil
				}
			}
		}
		idle := false
		cases := []workflow.Case{workflow.OnReceive(left, gone(&left)), workflow.OnReceive(right, gone(&right))}
		_, err := workflow.Select(ctx, append(cases, workflow.Default(func() { idle = true }))...)
		if err == nil && idle {
			_, err = workflow.Select(ctx, cases...)
		}
		if x.fail(err) {
			return
		}
	}
}

func (x *exchange) fail(err error) bool {
	if err != nil && x.failed == nil {
		x.failed = err
	}
	return err != nil
}
