package journaltest

import (
	"bytes"
	"errors"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// Whoever waits for the end of runs hears of those that have one, and of nothing else.
var endChecks = []check{
	{"Ends_NameWhatHasClosed", endsOfRuns},
	{"Ends_LargeOutcomesComeLater", endsInPieces},
	{"Ends_AnswersBringNoInput", answersBringNoInput},
}

func endsOf(k *kit, runs ...journal.RunID) []driver.End {
	k.t.Helper()
	ends, err := k.j.Ends(k.ctx, runs)
	k.ok(err)
	return ends
}

// An answer names closed runs, of any outcome and generation, with the terminal event that a
// listing shows, and runs that do not exist; in the order of the question.
func endsOfRuns(k *kit) {
	m := k.join(leaseLong)
	node := m.ID()
	owners := k.own(node, 5)
	open, done, failed, killed, parked := owners[0], owners[1], owners[2], owners[3], owners[4]
	done.commit(closed, started(), completed(`"ü"`))
	failed.commit(closed, started("a"), stepDone(1, "a", "1"), ended(journal.RunFailed))
	open.commit(keep, started("a"))
	parked.commit(park, started())
	k.ok(k.admin(killed.run, driver.AdminTerminate))
	free, unknown := k.begin(1)[0], journal.NewRunID()
	k.same("ends of nothing", len(endsOf(k)), 0)
	k.same("ends of open runs", len(endsOf(k, open.run, free, parked.run)), 0)
	asked := []journal.RunID{failed.run, open.run, unknown, killed.run, free, done.run, parked.run, failed.run}
	got := endsOf(k, asked...)
	want := []journal.RunID{failed.run, unknown, killed.run, done.run, failed.run}
	if len(got) != len(want) {
		k.t.Fatalf("%d ends, want %d: %+v", len(got), len(want), got)
	}
	for i, e := range got {
		k.same("run", e.Run, want[i])
		if e.Run == unknown {
			if !errors.Is(e.Err, journal.ErrNotFound) || e.Terminal != nil {
				k.t.Errorf("unknown run: %+v", e)
			}
			continue
		}
		if e.Err != nil || e.Later {
			k.t.Errorf("end of a closed run: %+v", e)
		}
		k.same("terminal event", e.Terminal, k.row(e.Run).Terminal)
	}
}

// Outcomes that together exceed the limit of an answer come in several, each of which brings one at
// least: whoever asks again for what comes later has all of them in the end.
func endsInPieces(k *kit) {
	const runs = 5
	node := k.join(leaseLong).ID()
	large := bytes.Repeat([]byte("x"), 2<<20)
	ids := make([]journal.RunID, 0, runs+1)
	for _, o := range k.own(node, runs) {
		end := completed("")
		end.Payload.Data = large
		o.commit(closed, started(), end)
		ids = append(ids, o.run)
	}
	ids = append(ids, k.begin(1)[0])
	asked, rounds := ids, 0
	for ; len(asked) > 0 && rounds < runs; rounds++ {
		var later []journal.RunID
		got := 0
		for _, e := range endsOf(k, asked...) {
			if e.Later {
				later = append(later, e.Run)
				continue
			}
			if got += len(e.Terminal.Payload.Data); !bytes.Equal(e.Terminal.Payload.Data, large) {
				k.t.Errorf("outcome of %d bytes", len(e.Terminal.Payload.Data))
			}
		}
		if got == 0 || got >= driver.EndsBytesMax+len(large) {
			k.t.Fatalf("an answer of %d bytes", got)
		}
		asked = later
	}
	if rounds != 2 {
		k.t.Errorf("%d answers for %d MiB", rounds, runs*2)
	}
}

// Whoever waits for the reply to an update gets what tells why there is none, and nothing that is
// as large as the run's input or the state of its steps.
func answersBringNoInput(k *kit) {
	node := k.join(leaseLong).ID()
	p := journal.Payload{Data: bytes.Repeat([]byte("x"), 1000)}
	o := k.takeStarted(node, journal.Start{Input: p, Labels: map[string]string{"a": "b"}})
	k.sends(update(o.run, "u", "1"))
	c := o.build(block("it broke", k.j.Now()), started("a"))
	c.Attempts = []journal.Attempt{{Cmd: 1, Name: "a", Made: 1, NextAt: k.j.Now(), Heartbeat: &p}}
	o.submit(c)
	h := k.answer(o.run, 1)
	k.same("blocked run", h.Run, journal.Run{ID: o.run, Status: journal.Open,
		Task: &journal.Task{Run: o.run, State: journal.Blocked, Problem: "it broke"}})
	k.ok(k.admin(o.run, driver.AdminTerminate))
	h = k.answer(o.run, 1)
	k.same("closed run", h.Run, journal.Run{ID: o.run, Status: journal.Terminated, Terminal: k.row(o.run).Terminal})
}
