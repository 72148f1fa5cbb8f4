package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-run/reprise/ui/record"
)

func runWhy(a *app) *cobra.Command {
	c := a.oneRun(&cobra.Command{
		Use: "why RUN", Short: "Tell why a run stands where it stands, and who has to do what",
		RunE: a.reads(func(c *call, args []string) error {
			run, err := c.run(args[0])
			if err != nil {
				return err
			}
			e, err := c.client.Why(c.ctx, run)
			if err != nil {
				return err
			}
			rec := c.records.Why(e)
			return printOne(c.out, &rec, whyText)
		}),
	})
	return printing(c, "why")
}

func whyText(p *printer, w *record.Why) string {
	var b strings.Builder
	r := &w.Run
	fmt.Fprintf(&b, "run %s of workflow %s, version %d, queue %s, is %s\n", r.ID, oneLine(r.Workflow, 100), r.Version, oneLine(r.Queue, 100), r.Word())
	for _, why := range w.Reasons {
		fmt.Fprintf(&b, "%s: %s", why.Kind, oneLine(why.Text, payloadMax))
		if why.Since != nil {
			fmt.Fprintf(&b, ", since %s", p.at(*why.Since))
		}
		if why.Until != nil {
			fmt.Fprintf(&b, ", until %s", p.at(*why.Until))
		}
		b.WriteByte('\n')
		if why.Remedy != "" {
			fmt.Fprintf(&b, "  %s\n", oneLine(why.Remedy, payloadMax))
		}
		if why.Limit != nil {
			for i := range why.Limit.Holders {
				h := &why.Limit.Holders[i]
				fmt.Fprintf(&b, "  held by %s since %s, claim %s\n", holder(h), p.maybe(h.GrantedAt), h.Claim)
			}
		}
	}
	return b.String()
}
