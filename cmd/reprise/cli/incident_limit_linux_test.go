package cli_test

import (
	"fmt"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// fullLimit is a limit whose holders hang, and a line behind them.
func fullLimit(s *scene) map[string]func() {
	claims := func(held, waiting int) {
		s.T.Helper()
		clustertest.Until(s.T, fmt.Sprintf("%d hold the limit and %d wait", held, waiting), func() bool {
			page, err := runtime.Limits(clustertest.Context(s.T), s.client, &journal.LimitFilter{Name: "carrier", Uses: 1})
			var use journal.LimitUse // none if nothing is held
			for _, u := range page.Uses {
				use = u
			}
			return err == nil && use.Held == held && use.Waiting == waiting
		})
	}
	if err := runtime.SetLimit(clustertest.Context(s.T), s.client, journal.Limit{Name: "carrier", Concurrency: 2}); err != nil {
		s.T.Fatal(err)
	}
	s.deploy(s.world.handleShipments)
	start(s, shipments, 1, 2, runtime.StartOptions{})
	claims(2, 0)
	for i := 3; i <= 5; i++ { // in this order
		start(s, shipments, i, i, runtime.StartOptions{})
		claims(2, i-2)
	}
	s.until(5, `workflow = "shipment" and node is set`)
	return map[string]func(){
		"the carrier answers again":            func() { s.world.carrier.Store(true) },
		"the shipments that waited are booked": func() { s.until(3, `workflow = "shipment" and status = "completed"`) },
		"the other two are booked": func() {
			s.until(5, `workflow = "shipment" and status = "completed"`)
			claims(0, 0) // the node tells so a moment later
		},
	}
}
