//go:build !race

package sim

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// plantedMax is within how many seeds a planted fault must be found.
const plantedMax = 500

// planted are faults that the simulator must find. Each is as small as a slip in a store or in the
// engine would be, and does no harm before something else goes wrong.
var planted = []struct {
	name   string
	mutate mutation
	change func(*plan) // nil for none
}{
	{"the fence is not checked (J3)", func(w *world, s store) store { return noFence{s, w} }, only(freeze)},
	{"a park does not compare inbox numbers (J6)", func(_ *world, s store) store { return deafPark{s} }, nil},
	{"effects come before the commit is durable", func(w *world, s store) store { return early{s, w} }, nil},
	// The poll alone is correct, and so is the claim behind each comparison of what a node owns.
	// Both must be out of the way.
	{"wake-ups are lost", func(_ *world, s store) store { return sleepy{s} }, func(p *plan) { p.Poll, p.Lease, p.Faults = time.Hour, time.Hour, nil }},
	{"nodes of one slot are late", func(_ *world, s store) store { return sleepy{s} }, slotted},
	{"an own write is not recognised (J4)", func(w *world, s store) store { return forgetful{s, w} }, only(lossy)},
	{"message keys do not deduplicate (J5)", func(_ *world, s store) store { return keyless{s} }, nil},
	{"attempts of steps in retry are forgotten", func(_ *world, s store) store { return careless{s} }, nil},
	{"a block writes over what could not be read", func(_ *world, s store) store { return overwriting{s} }, unreadableOften},
	{"an inbox is read backwards (J5)", func(_ *world, s store) store { return backwards{s} }, nil},
	{"tasks of dead nodes are not freed", func(_ *world, s store) store { return immortal{s} }, nil},
	{"effects are repeated with their commit (J4)", func(w *world, s store) store { return repeating{s, w} }, only(lossy)},
	{"a child's outcome is dropped", mute, nil},
	{"what is carried over is forgotten (J5)", unread, nil},
	{"a generation begins one message too far (J5)", beyond, nil},
	{"close policies are skipped", orphans, nil},
	{"replies come before their commit (J2)", func(w *world, s store) store { return hasty{s, w} }, called},
	{"heartbeats are forgotten", numb, nil},
	{"a retry comes before its time", impatient, nil},
	{"signals are sent backwards", reversed, nil},
	{"a semaphore lets one more in", nil, slips(doSemaphore)},
	{"a mutex lets everybody in", nil, slips(doLock)},
	{"a group does not cancel the others", nil, slips(doGroup)},
	{"a race takes the last for the first", nil, slips(doRace)},
	{"chance is another on replay", nil, slips(doChance)},
	{"a line is written twice", nil, quiets(slips(doLog))},
	{"a reap does not wait for the node's commits (J3)", unlocked, frozen},
	{"a late request is accepted behind a takeover (J4)", revenant, late},
	{"a recall is heard by nobody", func(w *world, s store) store { return unrecalled{s, w} }, ended},
	{ofMemory, byNumber, often},
	{"messages are consumed by number alone (J5)", swapped, jammed},
	{"a claim with a smaller fence is ignored", byFence, back},
	{"a page begins one event too late (J1)", func(_ *world, s store) store { return skipping{s} }, paged},
	{"a page says that it is the last (J1)", func(_ *world, s store) store { return curt{s} }, paged},
	{"a commit answers a pause that its owner has not heard of (J11)", func(_ *world, s store) store { return presumptuous{s} }, pausedOften},
	{"a turn writes all labels that its owner knows", func(_ *world, s store) store { return wholesale{s} }, labelledOften},
	{"a rewind keeps one event too many (J13)", keeps(1), rewoundOften},
	{"a rewind keeps one event too few (J13)", keeps(-1), rewoundOften},
	{"a rewind loses messages (J13)", rewords(dropsMessages), rewoundOften},
	{"a rewind brings a message that was consumed (J13)", rewords(doubles), rewoundOften},
	{"a retry gives a step another key", rewords(rekeys), rewoundOften},
	{"a reset leaves a step its key", rewords(sameKeys), rewoundOften},
	{"the answer of a branch's child is taken (J13)", rewords(adopts), rewoundOften},
	{"children of a branch are left alone", rewords(leavesChildren), rewoundOften},
	{"a branch's random numbers come again (J13)", rewords(redraws), rewoundOften},
	{"a fork leaves a trace in its original (J13)", func(_ *world, s store) store { return marked{s} }, rewoundOften},
	{"a node that joins knows of no pause (J11)", func(_ *world, s store) store { return unaware{s} }, scopedOften},
	{"a pause is told before the nodes heed it (J11)", func(_ *world, s store) store { return acquitted{s} }, scopedOften},
	{"a job does not know on which runs it has acted", func(_ *world, s store) store { return amnesic{s} }, workedOften},
	{"a slot is not returned (J14)", hoarding, bounded},
	{"one more is granted than the limit allows (J14)", generous, bounded},
	{"a start forgets what its run holds (J14)", func(_ *world, s store) store { return unlimited{s} }, placed},
	{"nobody takes in who waits for a place (J14)", unrun, placed},
	{"what takes too long is asked for again as a whole", undivided, crowded},
	{"a commit whose row is held counts as written (J2)", believes(heldCommits), troubled(heldRows)},
	{"a commit that a standby refuses counts as written (J2)", believes(refusedCommits), troubled(readOnly)},
	{"what a node owns is never compared", func(_ *world, s store) store { return blind{s} }, back},
}

// slotted gives each node one slot, and long steps: who waits for it is not late, but who waits for a
// poll of twenty seconds is. Nothing is stuck for good.
func slotted(p *plan) {
	p.Poll, p.Lease, p.Faults = 20*time.Second, time.Hour, nil
	for i := range p.Nodes {
		p.Nodes[i].StepsMax = 1
	}
}

// ofMemory is the fault that shows only in what a node keeps of a run that it does not own.
const ofMemory = "memory is current by its turn"

// slips makes the language do a verb wrong.
func slips(do verb) func(*plan) { return func(p *plan) { p.Slip = do } }

// quiets lets nothing else go wrong: a line may be written once more behind a fault.
func quiets(change func(*plan)) func(*plan) {
	return func(p *plan) {
		change(p)
		p.Faults = nil
	}
}

// only makes every fault one of a kind that the planted one shows by, so that it is found by more
// than luck.
func only(kind faultKind) func(*plan) {
	return func(p *plan) {
		for i := range p.Faults {
			p.Faults[i] = fault{At: p.Faults[i].At, Kind: kind, Node: 1 + i%len(p.Nodes), For: p.Lease + p.Faults[i].For}
		}
	}
}

// back makes every fault one of a database that goes back, far or not, and has clients send all the
// time.
func back(p *plan) {
	for i := range p.Faults {
		p.Faults[i] = fault{At: p.Faults[i].At, Kind: goBack, Back: 1 + i*i}
	}
	for i := range p.Runs {
		r := &p.Runs[i]
		for k := range 12 {
			r.Sends = append(r.Sends, send{At: r.At + time.Duration(k)*300*time.Millisecond, Do: sendSignal, Signal: signalNames[k%3], Via: k % (1 + len(p.Nodes))})
		}
		slices.SortStableFunc(r.Sends, func(a, b send) int { return cmp.Compare(a.At, b.At) })
	}
}

// often does so again and again by a few commits, so that another node repeats what one remembers.
func often(p *plan) {
	back(p)
	p.Faults = nil
	for i := range 15 {
		p.Faults = append(p.Faults, fault{At: time.Duration(i+1) * 400 * time.Millisecond, Kind: goBack, Back: 2 + i%6})
	}
	for i := range p.Nodes {
		p.Nodes[i].Passivate = false
	}
}

// jammed does so with calls that take long, so that what a node has read is gone when it commits.
func jammed(p *plan) {
	back(p)
	p.Slow = 200 * time.Millisecond
	for i := range p.Faults {
		p.Faults[i].Back = min(p.Faults[i].Back, 3)
	}
}

// late has calls arrive when their node is away.
func late(p *plan) {
	for i := range p.Faults {
		f := &p.Faults[i]
		*f = fault{At: f.At, Kind: echo, Node: 1 + i%len(p.Nodes), For: p.Lease + f.For}
		p.Faults = append(p.Faults, fault{At: f.At + 100*time.Millisecond, Kind: partition, Node: f.Node, For: 2 * p.Lease})
	}
}

// paged reads histories event by event.
func paged(p *plan) { p.Page = 1 }

// frozen has nodes freeze one after the other, each until another one executes its runs, whose
// steps take long.
func frozen(p *plan) {
	p.Nodes = append(p.Nodes, nodePlan{Lanes: 1})
	p.Faults = nil
	for i := range 6 {
		p.Faults = append(p.Faults, fault{At: time.Duration(i+1) * time.Second, Kind: freeze, Node: 1 + i%len(p.Nodes), For: p.Lease + time.Second})
	}
	for i := range p.Runs {
		walkOwn(p.Runs[i].Program, func(in *instr) {
			if in.Do == doStep || in.Do == doAsync {
				in.For += 3 * time.Second
			}
		})
	}
}

// ended has operators end every run, of which no hint tells.
func ended(p *plan) {
	p.Faults = append(p.Faults, fault{Kind: deaf, For: 20 * time.Second})
	for i := range p.Runs {
		r := &p.Runs[i]
		r.Sends = append(r.Sends, send{At: r.At + r.Delay + time.Duration(1+i)*700*time.Millisecond, Do: sendTerminate})
	}
}

// called has every run called often, by callers who have their answer at once, and the nodes die
// one after the other meanwhile.
func called(p *plan) {
	p.Faults = nil
	for i := range 6 {
		p.Faults = append(p.Faults, fault{At: time.Duration(i+1) * 700 * time.Millisecond, Kind: crash, Node: 1 + i%len(p.Nodes), For: 500 * time.Millisecond})
	}
	for i := range p.Runs {
		r := &p.Runs[i]
		r.Sends = nil
		for k := range 8 {
			at := r.At + r.Delay + time.Duration(k+1)*300*time.Millisecond
			r.Sends = append(r.Sends, send{At: at, Do: sendUpdate, Call: callPlan{Do: callPlain}})
		}
	}
}

// TestSimulatorFindsPlantedFaults shows that the simulator would find such a bug. The race detector
// would make it take minutes and has nothing to find in it that it does not find in TestSeeds.
func TestSimulatorFindsPlantedFaults(t *testing.T) {
	for _, p := range planted {
		t.Run(p.name, func(t *testing.T) {
			if p.name == ofMemory { // which there is none of if every run is passivated at once
				t.Setenv("REPRISE_TEST_PASSIVATE", "")
			}
			for seed := uint64(1); seed <= plantedMax; seed++ {
				made := generate(seed)
				if p.change != nil {
					p.change(made)
				}
				if w := simulate(t, made, p.mutate); len(w.broken) > 0 {
					t.Logf("found by seed %d: %s", seed, w.broken[0])
					return
				}
			}
			t.Errorf("not found within %d seeds", plantedMax)
		})
	}
}

// noFence takes whoever commits for the owner.
type noFence struct {
	store
	w *world
}

// Commit implements driver.Store.
func (s noFence) Commit(ctx context.Context, commits []driver.Commit) ([]driver.Outcome, error) {
	met, err := s.w.tasks(commits)
	if err != nil {
		return nil, err
	}
	commits = slices.Clone(commits)
	for i, t := range met {
		if t != nil && t.Owner != 0 {
			commits[i].Node, commits[i].Fence = t.Owner, t.Fence
		}
	}
	return s.store.Commit(ctx, commits)
}

// deafPark parks a run whose inbox has news.
type deafPark struct{ store }

// Commit implements driver.Store.
func (s deafPark) Commit(ctx context.Context, commits []driver.Commit) ([]driver.Outcome, error) {
	commits = slices.Clone(commits)
	for i := range commits {
		if commits[i].Next.Kind == driver.NextPark {
			commits[i].InboxSeen = 1 << 40
		}
	}
	return s.store.Commit(ctx, commits)
}

// early tells a node that its turn is durable a moment before it is.
type early struct {
	store
	w *world
}

// Commit implements driver.Store.
func (s early) Commit(ctx context.Context, commits []driver.Commit) ([]driver.Outcome, error) {
	met, err := s.w.tasks(commits)
	far := slices.ContainsFunc(commits, func(c driver.Commit) bool { return c.HasEffects() || c.Tx != nil }) // it has no outcome for them
	if err != nil || far {
		return s.store.Commit(ctx, commits)
	}
	out := make([]driver.Outcome, len(commits))
	for i, t := range met {
		c := &commits[i]
		if out[i].Now = s.w.storeClock(); t == nil || t.Owner != c.Node || t.Fence != c.Fence || t.Turn != c.Turn {
			out[i].Err = journal.ErrFenced
		}
	}
	commits = slices.Clone(commits)
	time.AfterFunc(time.Millisecond, func() { _, _ = s.store.Commit(context.WithoutCancel(ctx), commits) })
	return out, nil
}

// sleepy never says when the next task is due, and passes no hint on.
type sleepy struct{ store }

// Claim implements driver.Store.
func (s sleepy) Claim(ctx context.Context, r driver.ClaimRequest) (driver.Claim, error) {
	c, err := s.store.Claim(ctx, r)
	c.NextDue = time.Time{}
	return c, err
}

// Hints implements driver.Store.
func (s sleepy) Hints() driver.Hints { return silence{s.store.Hints()} }

type silence struct{ driver.Hints }

// Notify implements driver.Hints.
func (silence) Notify([]driver.Hint) {}

// forgetful takes a repeated commit for that of a lost owner.
type forgetful struct {
	store
	w *world
}

// Commit implements driver.Store.
func (s forgetful) Commit(ctx context.Context, commits []driver.Commit) ([]driver.Outcome, error) {
	met, err := s.w.tasks(commits)
	if err != nil {
		return nil, err
	}
	known := make([]bool, len(commits))
	for i, t := range met {
		c := &commits[i]
		kept := s.w.kept(c.Run)
		known[i] = t == nil || t.Turn != c.Turn || len(c.Events) > 0 && kept.Run.Generation == c.Generation && len(kept.Events) > int(c.Head.Seq)
	}
	out, err := s.store.Commit(ctx, commits)
	for i := range out {
		if known[i] {
			out[i].Err = journal.ErrFenced
		}
	}
	return out, err
}

// keyless gives every message a key of its own.
type keyless struct{ store }

// Send implements driver.Store.
func (s keyless) Send(ctx context.Context, tx journal.Tx, messages []journal.Message) ([]journal.Sent, error) {
	messages = slices.Clone(messages)
	for i := range messages {
		messages[i].Key += fmt.Sprintf("@%d", time.Now().UnixNano())
	}
	return s.store.Send(ctx, tx, messages)
}

// careless drops what is known of steps in retry.
type careless struct{ store }

// Commit implements driver.Store.
func (s careless) Commit(ctx context.Context, commits []driver.Commit) ([]driver.Outcome, error) {
	commits = slices.Clone(commits)
	for i := range commits {
		commits[i].Attempts = nil
	}
	return s.store.Commit(ctx, commits)
}

// backwards gives the messages of an inbox in the wrong order.
type backwards struct{ store }

// Load implements driver.Store.
func (s backwards) Load(ctx context.Context, requests []driver.LoadRequest) ([]driver.History, error) {
	list, err := s.store.Load(ctx, requests)
	for i := range list {
		slices.Reverse(list[i].Inbox)
	}
	return list, err
}

// immortal never finds a node dead.
type immortal struct{ store }

// Join implements driver.Store.
func (s immortal) Join(ctx context.Context, n journal.Node) (driver.Membership, error) {
	m, err := s.store.Join(ctx, n)
	if err != nil {
		return nil, err
	}
	return unreaped{m}, nil
}

type unreaped struct{ driver.Membership }

// Reap implements driver.Membership.
func (unreaped) Reap(context.Context, []journal.NodeID) (driver.Reaped, error) {
	return driver.Reaped{}, nil
}
