package schedule

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
)

// Options of a call that changes a set. The zero value means the defaults.
type Options struct {
	// Tx makes the change exactly if and when this transaction commits: postgres.InTx(tx). The call
	// returns before that, and nobody can wait for the change.
	Tx journal.Tx
}

// Apply makes the schedules of a set those that it gets: those that are new are started, those that
// differ are changed, and those that are gone are removed, all in one commit. What a schedule has
// done, and whether it is paused, stays through a change. Apply does not wait for that, and no node
// need be there: the change is durable when it returns; [Applied.Wait] waits. o may be nil.
//
// Errors: journal.ErrInvalid for schedules that cannot be applied, with every problem of every one,
// before anything is stored; those of runtime.Start.
func Apply(ctx context.Context, c *runtime.Client, s Set, o *Options) (*Applied, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	return send(ctx, c, s.setName(), change{Put: s.Schedules, Prune: true}, o)
}

// Put is [Apply] that leaves the other schedules of the set as they are: for schedules that
// programs make one by one, such as one for each customer.
func Put(ctx context.Context, c *runtime.Client, s Set, o *Options) (*Applied, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	return send(ctx, c, s.setName(), change{Put: s.Schedules}, o)
}

// Delete removes schedules of a set, by their names. Runs that they have started go on. One that is
// not there is no error. o may be nil.
func Delete(ctx context.Context, c *runtime.Client, set string, names []string, o *Options) (*Applied, error) {
	s := Set{Name: set}
	if err := s.Check(); err != nil {
		return nil, err
	}
	var p problems
	p.add(len(names) > setMax, "%d schedules are named, a set has at most %d", len(names), setMax)
	if err := p.error(fmt.Sprintf("set %q of schedules", s.setName())); err != nil {
		return nil, err
	}
	for _, n := range names {
		if err := checkID(idOf(set, n)); err != nil {
			return nil, err
		}
	}
	return send(ctx, c, s.setName(), change{Remove: names}, o)
}

// Applied is a change that is durable.
type Applied struct {
	answer *runtime.UpdateHandle[Changes]
}

// Wait waits until the change has been made, which takes a node with [Handle], and returns what it
// was. Errors: journal.ErrInvalid if it was made in a transaction; that of a set which [Put] makes
// too large, and which then stays as it is; those of runtime.CallUpdate.
func (a *Applied) Wait(ctx context.Context) (Changes, error) {
	if a.answer == nil {
		return Changes{}, fmt.Errorf("a change of schedules in a transaction has nothing to wait for: %w", journal.ErrInvalid)
	}
	return a.answer.Result(ctx)
}

// send sends a change to the run of a set, and starts that if there is none.
func send(ctx context.Context, c *runtime.Client, set string, ch change, o *Options) (*Applied, error) {
	ch.Actor = c.Actor(ctx)
	messages, err := divide(set, ch)
	if err != nil {
		return nil, err
	}
	so := &runtime.StartOptions{Key: keyOfSet(set), Reuse: journal.ReuseAllow, Labels: map[string]string{LabelSet: set}}
	tell := func(ch change, key string) error {
		_, err := runtime.SignalWithStart(ctx, c, setName, setState{Set: set}, applyTx, ch, so, &runtime.SignalOptions{Key: key})
		return err
	}
	if o != nil {
		so.Tx = o.Tx
	}
	last := len(messages) - 1
	for i := range last {
		if err := tell(messages[i], fmt.Sprint(messages[i].Change, "/", i)); err != nil {
			return nil, err
		}
	}
	if so.Tx != nil {
		return &Applied{}, tell(messages[last], "")
	}
	_, answer, err := runtime.UpdateWithStart(ctx, c, setName, setState{Set: set}, applied, messages[last], so, nil)
	return &Applied{answer}, err
}

// keyOfSet is the key of the run of a set.
func keyOfSet(set string) string { return "schedules:" + set }

// Found is a schedule as it is.
type Found struct {
	Run journal.RunID // of the schedule itself
	Info
}

// List lists the schedules of a set, or of all sets if that is empty, by their ids. One that no
// node has begun with yet is there, without what it has planned.
func List(ctx context.Context, c *runtime.Client, set string) ([]Found, error) {
	labels := map[string]string{}
	if set != "" {
		labels[LabelSet] = set
	}
	return list(ctx, c, labels)
}

// Get returns one schedule. Errors: journal.ErrNotFound; journal.ErrInvalid for what is no id.
func Get(ctx context.Context, c *runtime.Client, id string) (Found, error) {
	if err := checkID(id); err != nil {
		return Found{}, err
	}
	set, n := Split(id)
	found, err := list(ctx, c, map[string]string{LabelName: idOf(set, n)})
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("schedule %q: %w", id, journal.ErrNotFound)
	}
	if err != nil {
		return Found{}, err
	}
	return found[0], nil
}

// list lists the schedules with some labels. Of one that was removed and is made anew, the old run
// may still be there for a moment; the newest counts.
func list(ctx context.Context, c *runtime.Client, labels map[string]string) ([]Found, error) {
	open := journal.Open
	byID := map[string]Found{}
	for f := (journal.ListFilter{Workflow: Workflow, Status: &open, Labels: labels, Limit: listPage}); ; {
		page, err := c.List(ctx, f)
		if err != nil {
			return nil, err
		}
		for i := range page.Runs {
			r := &page.Runs[i]
			if id := r.Labels[LabelName]; byID[id].Run.IsZero() {
				byID[id] = foundIn(c, r)
			}
		}
		if f.Cursor = page.Next; f.Cursor == "" {
			break
		}
	}
	all := make([]Found, 0, len(byID))
	for _, f := range byID {
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b Found) int { return strings.Compare(a.ID, b.ID) })
	return all, nil
}

// foundIn is what a run shows of the schedule that it is.
func foundIn(c *runtime.Client, r *journal.Run) Found {
	info, err := runtime.PublishedIn[Info](c, r, Published)
	if err != nil { // no node has begun with it yet, or this client's codec cannot read it
		info = Info{}
	}
	info.ID = r.Labels[LabelName]
	return Found{Run: r.ID, Info: info}
}
