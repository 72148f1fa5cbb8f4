package replay_test

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
)

// touchy is a type whose own code does not bear what somebody else may send.
type touchy struct{ S string }

func (t *touchy) UnmarshalJSON(b []byte) error {
	if string(b) == `"boom"` {
		panic("boom")
	}
	return json.Unmarshal(b, &t.S)
}

// code that receives signals which do not decode, and code that took its place.
func init() {
	register("takes", takes[int](false))
	register("takes-text", takes[any](false))
	register("takes-strings", takes[string](false))
	register("takes-marked", takes[int](true))
	register("takes-touchy", func(c ctx) (string, error) {
		v, err := workflow.Signal[touchy]("number").Receive(c)
		return v.S, err
	})
	register("takes-strict", takes[int](false))
	workflows["takes-strict"].BlockOnBadSignal = true
	register("takes-either", func(c ctx) (string, error) {
		for {
			i, err := workflow.Select(c, workflow.OnSignal(number, func(v int) { say(c, "number %d", v) }), workflow.OnSignal(stop, nil))
			if err != nil || i == 1 {
				return "stopped", err
			}
		}
	})
	register("takes-briefly", func(c ctx) (string, error) {
		if _, err := step(c, "work"); err != nil {
			return "", err
		}
		v, ok, err := number.ReceiveTimeout(c, time.Minute)
		say(c, "receive: %d, %v, %v", v, ok, err)
		return "", err
	})
	register("takes-all", func(c ctx) (void, error) {
		for range 2 {
			if _, err := step(c, "work"); err != nil {
				return void{}, err
			}
			for number.Pending(c) > 0 {
				v, err := number.Receive(c)
				say(c, "number %d, %v, %d pending", v, err, number.Pending(c))
			}
			say(c, "drained")
		}
		return stop.Receive(c)
	})
	register("takes-when-there", func(c ctx) (string, error) {
		err := workflow.Await(c, func() bool { return number.Pending(c) > 1 })
		say(c, "%d pending, %v", number.Pending(c), err)
		v, err := number.Receive(c)
		say(c, "number %d, %v", v, err)
		return "", err
	})
	register("takes-at-the-end", func(c ctx) (void, error) {
		workflow.Go(c, func(c ctx) {
			defer func() {
				i, err := workflow.Select(c, workflow.OnSignal(number, nil), workflow.Default(nil))
				say(c, "at the end: %d, %v, %d pending", i, err, number.Pending(c))
			}()
			_ = workflow.Sleep(c, time.Hour)
		})
		return stop.Receive(c)
	})
	register("takes-later", func(c ctx) (string, error) {
		if _, err := stop.Receive(c); err != nil {
			return "", err
		}
		return "", workflow.ContinueAsNew(c, workflow.Name[*string, string]("takes-later"), nil, nil)
	})
}

// takes receives two signals and does a step between.
func takes[T any](marked bool) func(c ctx) (string, error) {
	return func(c ctx) (string, error) {
		for i := range 2 {
			if marked {
				say(c, "changed %v", workflow.Changed(c, fmt.Sprint("marked ", i)))
			}
			v, err := workflow.Signal[T]("number").Receive(c)
			say(c, "%d: %v, %v", i, v, err)
			if err != nil {
				return "", err
			}
			if _, err := step(c, "work"); err != nil {
				return "", err
			}
		}
		return "done", nil
	}
}
