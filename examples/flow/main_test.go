package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/reprise-run/reprise/runtime/runtimetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestProgram(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), filepath.Join(t.TempDir(), "reprise.db"), &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`n2["charge"]`, "n2 --> n3", "n0>\"approval<br>waits for signal approved<br>if it is large<br>running\"]", "class n4 waiting",
		"shipped a parcel of tea, a parcel of cups and a card for Ann\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the program does not print %q:\n%s", want, out.String())
		}
	}
}

// A flow is tested like any workflow: its steps have the names of its nodes.
func TestFlowOrder(t *testing.T) {
	for _, tc := range []struct {
		cart Cart
		want string
	}{
		{Cart{"Ann", []string{"tea", "cups"}, 1290}, "shipped a parcel of tea, a parcel of cups and a card for Ann"},
		{Cart{"Bob", []string{"tea"}, 12_900}, "shipped a parcel of tea and no card"},
		{Cart{"Cid", []string{}, 0}, "shipped  and no card"},
	} {
		runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
			f, shipped := declare()
			runtimetest.Handle(e, Order, f.Build(), nil)
			run := runtimetest.Start(e, Order, tc.cart, nil)
			runtimetest.Signal(e, run.ID(), Approved, "the boss", nil)
			if got, _, err := shipped.In(run.Must()); got != tc.want || err != nil {
				e.Errorf("%+v: %q, %v", tc.cart, got, err)
			}
		})
	}
}

// What fails behind the charge gives the money back.
func TestFlowRefund(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		f, _ := declare()
		runtimetest.Handle(e, Order, f.Build(), nil)
		run := runtimetest.Start(e, Order, Cart{"Ann", nil, 1290}, nil) // no list of items
		if _, err := run.Result(); err == nil || !strings.Contains(err.Error(), "node pack: the input gave null instead of a list") {
			e.Errorf("the run ended with %v", err)
		}
		if n := len(e.Calls("undo charge")); n != 1 {
			e.Errorf("the charge was undone %d times", n)
		}
	})
}
