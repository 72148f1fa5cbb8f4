package driver_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/memory"
)

// TestOfIsOneEngine: whoever shares a Journal shares its clock and hints.
func TestOfIsOneEngine(t *testing.T) {
	store := memory.New(nil)
	j := journal.New(store, nil)
	engine := driver.Of(j)
	if again := driver.Of(j); again != engine {
		t.Error("a Journal has two engines")
	}
	if engine == driver.Of(journal.New(store, nil)) {
		t.Error("two Journals have one engine")
	}
}

// facts is a store that no back end made: it lacks all that an engine needs.
type facts struct{}

func (facts) List(context.Context, journal.ListFilter) (journal.RunPage, error) {
	return journal.RunPage{}, nil
}

func (facts) Aggregate(context.Context, journal.Aggregate) (journal.Aggregated, error) {
	return journal.Aggregated{}, nil
}

func (facts) Nodes(context.Context) ([]journal.Node, error) { return nil, nil }

// TestOfNamesAWrongStore: each call names what was passed, also for a program that recovers.
func TestOfNamesAWrongStore(t *testing.T) {
	j := journal.New(facts{}, nil)
	for range 2 {
		func() {
			defer func() {
				if text := fmt.Sprint(recover()); !strings.Contains(text, "driver_test.facts") {
					t.Errorf("the panic says %q", text)
				}
			}()
			driver.Of(j)
		}()
	}
}
