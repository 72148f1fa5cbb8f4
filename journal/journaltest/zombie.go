package journaltest

import (
	"errors"
	"fmt"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// Only the present owner commits (J3). These checks play owners that do not know they are not it
// any more: declared dead, overtaken by another node, behind with their turn. Each must be refused
// with ErrFenced whatever its commit contains, and must leave no trace.
var ownerChecks = []check{
	{"J3_ZombieOwnerEveryWriteRefused", zombieEveryWriteRefused},
	{"J3_ZombieRefusedBeforeItsRunIsTakenOver", zombieRefusedWhileFree},
	{"J3_WrongTurnIsRefused", wrongTurnRefused},
	{"J3_WrongOwnerIsRefused", wrongOwnerRefused},
	{"J3_TwoOwnersRaceForOneSeq", twoOwnersRace},
	{"J3_TakeOverRacesCommit", takeOverRacesCommit},
}

func fenced(err error) bool { return errors.Is(err, journal.ErrFenced) }

func fencedOrLost(err error) bool { return fenced(err) || errors.Is(err, journal.ErrNodeLost) }

// everyWrite returns one commit of every kind.
func everyWrite(k *kit, o *owner) map[string]driver.Commit {
	soon := k.j.Now().Add(time.Hour)
	attempts := o.build(keep)
	attempts.Attempts = []journal.Attempt{{Cmd: 1, Name: "a", Made: 3, NextAt: soon}}
	step := stepDone(1, "a", "1")
	return map[string]driver.Commit{
		"keep": o.build(keep, step), "park": o.build(park, step), "park until": o.build(parkUntil(soon), step),
		"release": o.build(release, step), "block": o.build(block("p", soon), step),
		"close": o.build(closed, step, completed("1")), "attempts": attempts, "nothing": o.build(keep),
		"park without events": o.build(park), "release without events": o.build(release),
	}
}

// zombieEveryWriteRefused: node A loses its runs to node B of the same name, and then tries
// everything.
func zombieEveryWriteRefused(k *kit) {
	a, b := k.join(leaseTiny), k.join(leaseLong)
	kinds := len(everyWrite(k, &owner{k: k}))
	zombies := k.own(a.ID(), kinds)
	for _, z := range zombies {
		z.commit(keep, started("a"))
	}
	k.lose(a, b)
	owners := map[journal.RunID]*owner{}
	for _, o := range k.take(b.ID(), kinds) {
		owners[o.run] = o
	}

	tryAll := func(when string) {
		i := 0
		var batch []driver.Commit
		for name, c := range everyWrite(k, zombies[0]) {
			z := zombies[i]
			i++
			c.Run = z.run
			before := k.row(z.run)
			z.refused(c, fmt.Sprintf("%s, %s", name, when), fenced)
			c.Node = b.ID() // the new owner's number with the old fence
			z.refused(c, fmt.Sprintf("%s by the new node with the old fence, %s", name, when), fenced)
			k.same(name+" "+when+" changed the run", k.row(z.run), before)
			c.Node = a.ID()
			batch = append(batch, c)
		}
		out, err := k.commits(batch...)
		k.ok(err)
		for _, o := range out {
			if !fenced(o.Err) {
				k.t.Errorf("in a batch, %s: got %v", when, o.Err)
			}
		}
	}
	tryAll("while the new owner has not committed")
	for _, z := range zombies {
		owners[z.run].commit(keep, stepDone(1, "a", `"b's"`))
	}
	tryAll("after the new owner's commit")
	for _, z := range zombies {
		owners[z.run].commit(closed, completed(`"b's"`))
	}
	tryAll("after the new owner's close")
	for _, z := range zombies {
		k.same("output", string(k.row(z.run).Terminal.Payload.Data), `"b's"`)
	}
}

// lose lets a's lease run out and b reap it.
func (k *kit) lose(a, b driver.Membership) {
	k.t.Helper()
	k.expire(a.ID())
	k.eventually("the dead node is reaped", func() bool {
		if _, err := b.Reap(k.ctx, nil); err != nil {
			k.t.Fatal(err)
		}
		_, err := a.Renew(k.ctx)
		if err != nil && !errors.Is(err, journal.ErrNodeLost) {
			k.t.Fatal(err)
		}
		return err != nil
	})
}

// An owner that was declared dead is refused although nobody has taken its run over yet.
func zombieRefusedWhileFree(k *kit) {
	a, b := k.join(leaseTiny), k.join(leaseLong)
	z := k.one(a.ID())
	z.commit(keep, started("a"))
	k.lose(a, b)
	for name, c := range everyWrite(k, z) {
		z.refused(c, name, fenced)
	}
	k.take(b.ID(), 1)[0].commit(keep, stepDone(1, "a", "2"))
}

// A commit for another turn than the next is refused, with the right owner and fence.
func wrongTurnRefused(k *kit) {
	o := k.one(k.join(leaseLong).ID())
	o.commit(keep, started("a", "b", "c"))
	o.commit(keep, stepDone(1, "a", "1"))
	o.commit(keep, stepDone(2, "b", "2"))
	for _, turn := range []journal.Turn{0, 1, 2, 4, 100} {
		c := o.build(keep, stepDone(3, "c", "3"))
		c.Turn = turn
		o.refused(c, fmt.Sprintf("turn %d", turn), fenced)
	}
	o.commit(keep, stepDone(3, "c", "3"))
}

// A commit of another node is refused, with the right fence and turn.
func wrongOwnerRefused(k *kit) {
	a, b := k.join(leaseLong).ID(), k.join(leaseLong).ID()
	o := k.one(a)
	c := o.build(keep, started())
	c.Node = b
	o.refused(c, "another node", fenced)
	c = o.build(keep, started())
	c.Fence++
	o.refused(c, "a fence of the future", fenced)
	free := k.begin(1)[0]
	nobody := o.build(keep, started())
	nobody.Run, nobody.Node, nobody.Fence = free, 0, 0
	o.refused(nobody, "nobody", fenced)
	o.commit(closed, started(), completed("1"))
}

// twoOwnersRace: a zombie and the owner write the same seq at the same moment, each in its own
// batch.
func twoOwnersRace(k *kit) {
	const runs = 20
	a, b := k.join(leaseTiny), k.join(leaseLong)
	zombies := k.own(a.ID(), runs)
	k.lose(a, b)
	owners := map[journal.RunID]*owner{}
	for _, o := range k.take(b.ID(), runs) {
		owners[o.run] = o
	}
	k.together(2*runs, func(i int) error {
		z := zombies[i/2]
		if i%2 == 0 {
			out, err := k.commits(z.build(keep, started("zombie")))
			if err == nil && !fenced(out[0].Err) {
				err = fmt.Errorf("the zombie got %v", out[0].Err)
			}
			return err
		}
		out, err := k.commits(owners[z.run].build(keep, started("owner")))
		return errors.Join(err, out[0].Err)
	})
	for _, z := range zombies {
		events := k.history(z.run).Events
		if len(events) != 1 || events[0].Issued[0].Name != "owner" {
			k.t.Errorf("history %v, want the owner's event alone", events)
		}
	}
}

// takeOverRacesCommit: the owner commits while its node gives up its runs. Either the commit counts
// and the next owner knows it, or it is refused and leaves no trace.
func takeOverRacesCommit(k *kit) {
	const rounds, runs = 8, 8
	b := k.join(leaseLong)
	for range rounds {
		a := k.join(leaseLong)
		owners := k.own(a.ID(), runs)
		accepted := make(map[journal.RunID]bool, runs)
		results := make([]error, runs)
		k.together(runs+1, func(i int) error {
			if i == runs {
				return a.Leave(k.ctx)
			}
			out, err := k.commits(owners[i].build(keep, started()))
			if err == nil {
				results[i] = out[0].Err
			}
			return err
		})
		for i, o := range owners {
			if results[i] != nil && !fenced(results[i]) {
				k.t.Fatalf("got %v, want nil or ErrFenced", results[i])
			}
			accepted[o.run] = results[i] == nil
		}
		if _, err := b.Reap(k.ctx, nil); err != nil { // of a run whose commit was in the way of the leaving node
			k.t.Fatal(err)
		}
		for _, o := range k.take(b.ID(), runs) {
			if known := o.turn == 1 && o.head.Seq == 1; known != accepted[o.run] {
				k.t.Fatalf("the commit was accepted: %v, but the next owner sees turn %d and seq %d",
					accepted[o.run], o.turn, o.head.Seq)
			}
			if o.head.Seq == 0 {
				o.commit(keep, started())
			}
			o.commit(closed, completed("1"))
		}
	}
}
