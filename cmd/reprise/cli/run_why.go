package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// whyRecord is why a run stands where it stands.
type whyRecord struct {
	Run     runRecord      `json:"run" doc:"the run"`
	Reasons []reasonRecord `json:"reasons" doc:"what is to be dealt with first comes first; never empty"`
}

// reasonRecord is one thing that a run waits for, or how it ended.
type reasonRecord struct {
	Kind   string     `json:"kind" doc:"what it is about: closed, blocked, unserved, step, timer, signal and so on, as runtime.ReasonKind"`
	Text   string     `json:"text" doc:"a sentence"`
	Since  *time.Time `json:"since,omitempty" doc:"since when, if that is known"`
	Until  *time.Time `json:"until,omitempty" doc:"when it is over by itself"`
	Remedy string     `json:"remedy,omitempty" doc:"who has to do what so that the run goes on"`
}

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
			rec := whyRecord{Run: recordOf(&e.Run)}
			for _, r := range e.Reasons {
				rec.Reasons = append(rec.Reasons, reasonRecord{string(r.Kind), r.Text, moment(r.Since), moment(r.Until), r.Remedy})
			}
			return printOne(c.out, &rec, whyText)
		}),
	})
	return printing(c, "why")
}

func whyText(p *printer, w *whyRecord) string {
	var b strings.Builder
	r := &w.Run
	fmt.Fprintf(&b, "run %s of workflow %s, version %d, queue %s, is %s\n", r.ID, oneLine(r.Workflow, 100), r.Version, oneLine(r.Queue, 100), r.word())
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
	}
	return b.String()
}
