package schedule

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

// SetWorkflow is the name of the workflow that sets are runs of.
const SetWorkflow = "reprise.schedules"

const (
	setName workflow.Name[setState, none]    = SetWorkflow
	applied workflow.Update[change, Changes] = "reprise.schedules.apply"
	applyTx workflow.Signal[change]          = "reprise.schedules.apply" // of a transaction, which cannot wait for an answer
)

type none struct{}

// change is what Apply, Put and Delete ask of a set: it is one message, so it happens as a whole.
type change struct {
	Put    []Schedule `json:"put,omitempty"`
	Remove []string   `json:"remove,omitempty"`
	Prune  bool       `json:"prune,omitempty"` // what is not in Put goes
	Actor  string     `json:"actor,omitempty"` // who says so, for those who read the history
}

// Changes are the names of the schedules that a call has changed, each list in order.
type Changes struct {
	Added   []string `json:"added,omitempty"`
	Changed []string `json:"changed,omitempty"`
	Removed []string `json:"removed,omitempty"`
	Kept    int      `json:"kept"` // were as they are now
}

// setState is the input of a generation of a set's run.
type setState struct {
	Set     string   `json:"set"`
	Members []member `json:"members,omitempty"` // by name
}

// member is a schedule of a set. It has a run of its own, which is a child of the set's.
type member struct {
	Name   string        `json:"name"`
	Run    journal.RunID `json:"run"`
	Digest string        `json:"digest"` // of its definition
}

// keeper is the code of a set's run. It is the only one who starts and removes schedules of the
// set, and all that one change does is in one commit: the runs that it starts, and the messages to
// others. So a set is never half applied, and nobody has to lock it.
type keeper struct {
	setState
	client *runtime.Client
	one    workflow.Mutex // one change at a time
}

// keep is the workflow of a set. It never ends by itself: its schedules end with it.
func keep(ctx workflow.Context, c *runtime.Client, s setState) error {
	k := &keeper{setState: s, client: c}
	applied.Handle(ctx, func(ctx workflow.Context, ch change) (Changes, error) { return k.apply(ctx, &ch) }, nil)
	for {
		if err := workflow.Await(ctx, func() bool { return ctx.ShouldContinue() || applyTx.Pending(ctx) > 0 }); err != nil {
			return err
		}
		ch, some, err := applyTx.ReceiveTimeout(ctx, 0)
		if err == nil && some {
			_, err = k.apply(ctx, &ch)
		}
		if _, refused := errors.AsType[refusal](err); err != nil && !refused {
			return err
		}
		if !some && ctx.ShouldContinue() {
			if err := workflow.HandlersFinished(ctx); err != nil {
				return err
			}
			return workflow.ContinueAsNew(ctx, setName, k.setState, nil)
		}
	}
}

// apply makes a change. Runs of schedules that somebody has ended count as gone.
func (k *keeper) apply(ctx workflow.Context, c *change) (Changes, error) {
	var done Changes
	if err := k.one.Lock(ctx); err != nil {
		return done, err
	}
	defer k.one.Unlock()
	if err := k.look(ctx); err != nil {
		return done, err
	}
	if err := checked(ctx, "set "+k.Set, func() error { return k.check(c) }); err != nil {
		return done, err
	}
	wanted := map[string]bool{}
	for i := range c.Put {
		s := &c.Put[i]
		wanted[s.Name] = true
		at, found := k.find(s.Name)
		switch digest := digestOf(s); {
		case !found:
			run := k.start(ctx, s)
			if run.IsZero() {
				continue // the set is being cancelled
			}
			k.Members = slices.Insert(k.Members, at, member{s.Name, run, digest})
			done.Added = append(done.Added, s.Name)
		case k.Members[at].Digest != digest:
			k.Members[at].Digest = digest
			orders.SendAsync(ctx, k.Members[at].Run, order{Verb: define, Schedule: s})
			done.Changed = append(done.Changed, s.Name)
		default:
			done.Kept++
		}
	}
	k.Members = slices.DeleteFunc(k.Members, func(m member) bool {
		if gone := c.Prune && !wanted[m.Name] || slices.Contains(c.Remove, m.Name) && !wanted[m.Name]; !gone {
			return false
		}
		orders.SendAsync(ctx, m.Run, order{Verb: remove})
		done.Removed = append(done.Removed, m.Name)
		return true
	})
	slices.Sort(done.Added)
	slices.Sort(done.Changed)
	return done, nil
}

// check refuses a change that makes the set too large, which only the set can see, and one that
// Apply, Put and Delete would not have sent.
func (k *keeper) check(c *change) error {
	s := Set{Name: k.Set, Schedules: c.Put}
	if err := s.check((*Schedule).lasting); err != nil || c.Prune {
		return err
	}
	left := map[string]bool{}
	for _, m := range k.Members {
		left[m.Name] = true
	}
	for _, name := range c.Remove {
		delete(left, name)
	}
	for i := range c.Put {
		left[c.Put[i].Name] = true
	}
	var p problems
	p.add(len(c.Put) > 0 && len(left) > setMax, "it would have %d schedules, at most %d are allowed: put them into another set", len(left), setMax)
	return p.error(fmt.Sprintf("set %q of schedules", k.Set))
}

// find returns where the member of a name is, or would be.
func (k *keeper) find(name string) (at int, found bool) {
	return slices.BinarySearchFunc(k.Members, name, func(m member, name string) int { return strings.Compare(m.Name, name) })
}

// start starts the run of a schedule. It ends when it is removed, and with the set.
func (k *keeper) start(ctx workflow.Context, s *Schedule) journal.RunID {
	id := idOf(k.Set, s.Name)
	return workflow.CallAsync(ctx, name, state{ID: id, Schedule: *s}, &workflow.ChildOptions{
		Labels: map[string]string{LabelName: id, LabelSet: k.Set},
	}).ID()
}

// look forgets the members whose runs have ended without the set's doing: an operator has
// terminated them.
func (k *keeper) look(ctx workflow.Context) error {
	if len(k.Members) == 0 {
		return nil
	}
	var ids []journal.RunID
	for _, m := range k.Members {
		ids = append(ids, m.Run)
	}
	ended, err := workflow.Step(ctx, "look", func(ctx context.Context) (map[string]bool, error) {
		found, err := statuses(ctx, k.client, ids)
		ended := map[string]bool{}
		for _, id := range ids {
			if status, exists := found[id.String()]; !exists || status != journal.Open {
				ended[id.String()] = true
			}
		}
		return ended, err
	}, patiently)
	if err == nil {
		k.Members = slices.DeleteFunc(k.Members, func(m member) bool { return ended[m.Run.String()] })
	}
	return err
}
