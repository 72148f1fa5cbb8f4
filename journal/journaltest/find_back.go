package journaltest

import (
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// A run that has failed and went on is found by how it is now, and once: its earlier end stays in a
// branch, beside the one that counts.
func findBack(k *kit) {
	node := k.join(leaseLong).ID()
	declined := func() *journal.Failure { return &journal.Failure{Type: "pay.Declined", Message: "no"} }
	for _, end := range []journal.Event{
		{}, completed("1"), failedWith(declined()), {Kind: journal.RunCancelled, Payload: journal.EncodeFailure(declined())}, ended(journal.RunTerminated),
	} {
		o := k.one(node)
		o.commit(keep, started("a"))
		o.commit(closed, stepFailed(1, "a"), failedWith(declined()))
		k.ok(back(k, driver.AdminRetry, o.run, 1))
		if o = k.take(node, 1)[0]; end.Kind != 0 {
			o.commit(closed, stepDone(1, "a", "1"), end)
		} else {
			o.commit(block("differs", k.j.Now().Add(time.Hour)))
		}
	}
	all := k.listAll(journal.ListFilter{})
	for _, text := range []string{
		`status = failed`, `status = cancelled`, `status in (failed, cancelled)`, `status in (open, failed)`, `status in (blocked, failed, terminated)`,
		`status in (failed, cancelled) order by closed desc`, `status = failed order by created asc`, `error.class = "pay.Declined"`,
		`error.class = "pay.Declined" and status in (failed, cancelled)`, `error.class = "pay.Declined" order by duration desc`,
	} {
		for _, limit := range []int{1, 10} {
			k.same(text, idsOf(k, journal.ListFilter{Where: text, Limit: limit}), meant(k, text, all))
		}
	}
	for status := journal.Open; status <= journal.Terminated; status++ {
		k.same(status.String(), idsOf(k, journal.ListFilter{Status: &status}), meant(k, "status = "+status.String(), all))
		k.same(status.String(), idsOf(k, journal.ListFilter{Status: &status, Where: "version >= 0"}), meant(k, "status = "+status.String(), all))
	}
}
