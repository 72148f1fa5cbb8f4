package journaltest

import (
	"bytes"
	"strings"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// One claim, and one that reconciles, returns a bounded number of bytes of what has no small limit,
// and all tasks all the same. Of a run that is left out it says how much a load brings, and the
// load brings it.
func claimApart(k *kit) {
	node := k.join(leaseLong).ID()
	whole := map[journal.RunID]journal.Start{}
	for _, n := range []int{1, driver.ClaimBytesMax / 3, driver.ClaimBytesMax / 3, driver.ClaimBytesMax / 3, driver.ClaimBytesMax + 1} {
		st := journal.Start{Input: journal.Payload{Data: bytes.Repeat([]byte{'1'}, n)}, Headers: map[string]string{"h": strings.Repeat("v", 100)}}
		whole[k.starts(st)[0].Run] = st
	}
	if claimed := claimBounded(k, driver.ClaimRequest{Node: node, Max: len(whole) + 1}, whole); claimed != 3 {
		k.t.Errorf("%d runs came whole, want 3", claimed)
	}
	claimBounded(k, driver.ClaimRequest{Node: node, Reconcile: true}, whole)
	for run := range whole {
		k.ok(k.admin(run, driver.AdminTerminate))
	}

	o := k.one(node)
	c := o.build(release, started("a"))
	c.Attempts = []journal.Attempt{{Cmd: 1, Name: "a", Made: 2, Heartbeat: &journal.Payload{Data: make([]byte, driver.ClaimBytesMax)}}}
	o.submit(c)
	claim := k.claim(node, 1)
	if len(claim.Tasks) != 1 || claim.Tasks[0].Apart < driver.ClaimBytesMax || claim.Tasks[0].Task.Attempts != nil {
		k.t.Fatalf("%d tasks with large attempts, want one without them", len(claim.Tasks))
	}
	h := k.load(driver.LoadRequest{Run: o.run, Owned: true, InboxOnly: true, Apart: claim.Tasks[0].Apart})
	k.same("attempts", h.Run.Task.Attempts, c.Attempts)
}

// claimBounded makes a claim that must return these runs, and returns how many of them it returned
// whole.
func claimBounded(k *kit, r driver.ClaimRequest, want map[journal.RunID]journal.Start) (n int) {
	k.t.Helper()
	r.Routes = []journal.Route{flowRoute}
	c, err := k.j.Claim(k.ctx, r)
	k.ok(err)
	if len(c.Tasks) != len(want) {
		k.t.Fatalf("claimed %d tasks, want %d", len(c.Tasks), len(want))
	}
	bytes := 0
	for _, t := range c.Tasks {
		run, st := t.Run, want[t.Run.ID]
		bytes += driver.ApartBytes(&run, 0)
		switch {
		case t.Apart == 0:
			n++
		case t.Apart < driver.ApartBytes(&journal.Run{Input: st.Input, Headers: st.Headers}, 0) || run.Headers != nil || len(run.Input.Data) > 0:
			k.t.Errorf("an input of %d bytes with a claim that says %d of the run are apart", len(run.Input.Data), t.Apart)
			fallthrough
		default:
			run = k.load(driver.LoadRequest{Run: run.ID, Owned: true, Apart: t.Apart}).Run
		}
		if string(run.Input.Data) != string(st.Input.Data) || run.Headers["h"] != st.Headers["h"] {
			k.t.Errorf("an input of %d bytes, want %d; headers %v", len(run.Input.Data), len(st.Input.Data), run.Headers)
		}
	}
	if bytes > driver.ClaimBytesMax {
		k.t.Errorf("a claim of %d bytes, want at most %d", bytes, driver.ClaimBytesMax)
	}
	return n
}
