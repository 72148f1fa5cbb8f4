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

// change is what Apply, Put and Delete ask of a set. It happens as a whole.
type change struct {
	partOf
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
	Name   string
	Run    journal.RunID
	Digest string // of its definition
}

// MarshalText implements encoding.TextMarshaler. It is short because all members of a set are one
// value, with which its run goes on: of setMax names of nameBytesMax it has 1.7 MB.
func (m member) MarshalText() ([]byte, error) {
	return []byte(m.Name + " " + m.Run.String() + " " + m.Digest), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (m *member) UnmarshalText(b []byte) error {
	fields := strings.Fields(string(b))
	if len(fields) != 3 {
		return fmt.Errorf("%q is no member of a set of schedules", b)
	}
	m.Name, m.Digest = fields[0], fields[2]
	return m.Run.UnmarshalText([]byte(fields[1]))
}

// keeper is the code of a set's run. It is the only one who starts and removes schedules of the
// set, and all that one change does is in one commit: the runs that it starts, and the messages to
// others. So a set is never half applied, and nobody has to lock it.
type keeper struct {
	setState
	client   *runtime.Client
	one      workflow.Mutex // one change at a time
	applying int            // changes that wait or are made
	changed  bool           // this generation has made a change
	gathered []*gathering   // changes of which parts have come, in the order of their first
}

// keep is the workflow of a set. It never ends by itself: its schedules end with it.
func keep(ctx workflow.Context, c *runtime.Client, s setState) error {
	k := &keeper{setState: s, client: c}
	applied.Handle(ctx, func(ctx workflow.Context, ch change) (Changes, error) { return k.apply(ctx, &ch) }, nil)
	some := func() bool { return applyTx.Pending(ctx) > 0 }
	for {
		if err := workflow.Await(ctx, func() bool { return ctx.ShouldContinue() || some() }); err != nil {
			return err
		}
		if some() {
			if err := k.next(ctx); err != nil {
				return err
			}
			continue
		}
		if len(k.gathered) > 0 { // a part that is here would be lost
			if more, err := workflow.AwaitTimeout(ctx, partsWait, some); more || err != nil {
				if err != nil {
					return err
				}
				continue
			}
			k.gathered = nil // whoever has sent it is gone
		}
		if err := workflow.Await(ctx, func() bool { return k.applying == 0 || some() }); err != nil {
			return err
		}
		if !some() {
			return workflow.ContinueAsNew(ctx, setName, k.setState, nil)
		}
	}
}

// next takes the next message of a transaction, or a part of a change.
func (k *keeper) next(ctx workflow.Context) error {
	c, _, err := applyTx.ReceiveTimeout(ctx, 0)
	if err != nil {
		return err
	}
	if c.isPart() {
		k.gather(&c)
		return nil
	}
	_, err = k.apply(ctx, &c)
	if _, refused := errors.AsType[refusal](err); refused {
		return nil
	}
	return err
}

// apply makes a change. Runs of schedules that somebody has ended count as gone.
func (k *keeper) apply(ctx workflow.Context, c *change) (done Changes, err error) {
	k.applying++
	defer func() { k.applying-- }()
	if err := k.whole(ctx, c); err != nil { // ahead of the lock: parts are taken by who may wait for it
		return done, err
	}
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
	if err := ctx.Err(); err != nil {
		return done, err
	}
	k.changed = true
	k.put(ctx, c.Put, &done)
	k.remove(ctx, c, &done)
	slices.Sort(done.Added)
	slices.Sort(done.Changed)
	return done, nil
}

// put starts and changes schedules.
func (k *keeper) put(ctx workflow.Context, list []Schedule, done *Changes) {
	at := make(map[string]int, len(k.Members))
	for i := range k.Members {
		at[k.Members[i].Name] = i
	}
	for i := range list {
		s := &list[i]
		place, found := at[s.Name]
		digest := digestOf(s)
		switch {
		case found && k.Members[place].Digest == digest:
			done.Kept++
		case found:
			k.tell(ctx, k.Members[place], order{Verb: define, Schedule: s})
			k.Members[place].Digest = digest
			done.Changed = append(done.Changed, s.Name)
		default:
			k.Members = append(k.Members, member{s.Name, k.start(ctx, s), digest})
			done.Added = append(done.Added, s.Name)
		}
	}
	slices.SortFunc(k.Members, func(a, b member) int { return strings.Compare(a.Name, b.Name) })
}

// remove ends the schedules that a change takes away.
func (k *keeper) remove(ctx workflow.Context, c *change, done *Changes) {
	stays, gone := make(map[string]bool, len(c.Put)), make(map[string]bool, len(c.Remove))
	for i := range c.Put {
		stays[c.Put[i].Name] = true
	}
	for _, name := range c.Remove {
		gone[name] = true
	}
	k.Members = slices.DeleteFunc(k.Members, func(m member) bool {
		if stays[m.Name] || !c.Prune && !gone[m.Name] {
			return false
		}
		k.tell(ctx, m, order{Verb: remove})
		done.Removed = append(done.Removed, m.Name)
		return true
	})
}

// tell sends an order to a schedule and does not wait until it is there.
func (k *keeper) tell(ctx workflow.Context, m member, o order) {
	if sent := orders.SendAsync(ctx, m.Run, o); sent.Ready() {
		_, err := sent.Get(ctx)
		k.block(m.Name, err)
	}
}

// check refuses a change that Apply, Put and Delete would not have sent, and what only the set can
// see: that it would be too large, and that a change is more than one commit can do.
func (k *keeper) check(c *change) error {
	s := Set{Name: k.Set, Schedules: c.Put}
	if err := s.check((*Schedule).lasting); err != nil {
		return err
	}
	what := fmt.Sprintf("set %q of schedules", k.Set)
	put, left := map[string]bool{}, map[string]bool{}
	for i := range c.Put {
		put[c.Put[i].Name] = true
		if _, p := c.Put[i].bytes(); len(p.list) > 0 {
			return p.error(what)
		}
	}
	if !c.Prune {
		for _, m := range k.Members {
			left[m.Name] = true
		}
		for _, name := range c.Remove {
			delete(left, name)
		}
	}
	removed := 0
	for _, m := range k.Members {
		if !left[m.Name] && !put[m.Name] {
			removed++
		}
	}
	for name := range put {
		left[name] = true
	}
	var p problems
	p.add(len(put) > 0 && len(left) > setMax, "it would have %d schedules, at most %d are allowed: put them into another set", len(left), setMax)
	p.add(len(put)+removed > effectsMax, "the change removes %d schedules and puts %d, at most %d are one commit: remove some of them first", removed, len(put), effectsMax)
	return p.error(what)
}

// start starts the run of a schedule. It ends when it is removed, and with the set.
func (k *keeper) start(ctx workflow.Context, s *Schedule) journal.RunID {
	id := idOf(k.Set, s.Name)
	child := workflow.CallAsync(ctx, name, state{ID: id, Schedule: *s}, &workflow.ChildOptions{
		Labels: map[string]string{LabelName: id, LabelSet: k.Set},
	})
	if child.ID().IsZero() {
		_, err := child.Get(ctx)
		k.block(s.Name, err)
	}
	return child.ID()
}

// block blocks the set's run: a schedule could not be started or told. What check has let pass only
// a codec refuses, such as one that has no key on this machine. So nothing of the turn is written,
// and the change is made as a whole when a node can.
func (k *keeper) block(schedule string, err error) {
	panic(fmt.Errorf("set %q of schedules: schedule %q: %w", k.Set, schedule, err))
}

// look forgets the members whose runs have ended without the set's doing: an operator has
// terminated them.
func (k *keeper) look(ctx workflow.Context) error {
	if len(k.Members) == 0 && !k.changed { // two large changes in one turn would be too much for a commit
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
