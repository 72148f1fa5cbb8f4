package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow/flow"
	"github.com/reprise-run/reprise/runtime/flows"
	"github.com/reprise-run/reprise/ui/record"
)

func flowGroup(a *app) *cobra.Command {
	g := &cobra.Command{Use: "flow", Short: "Look at flows, and draw them"}
	g.AddCommand(flowList(a), flowDraw(a))
	return g
}

var shapeColumns = []column[record.Shape]{
	{"FLOW", func(_ *printer, r *record.Shape) string { return oneLine(r.Flow, 60) }},
	{"SHAPE", func(_ *printer, r *record.Shape) string { return r.Shape }},
	{"STORED", func(p *printer, r *record.Shape) string { return p.at(r.StoredAt) }},
}

func flowList(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "list", Short: "List the shapes of flows that are stored, newest first", Args: cobra.NoArgs,
		RunE: a.reads(func(c *call, _ []string) error {
			list := []record.Shape{}
			for f := (journal.ListFilter{KeyPrefix: flows.KeyPrefix, Limit: journal.ListMax}); ; {
				page, err := c.client.List(c.ctx, f)
				if err != nil {
					return err
				}
				c.out.now = page.Now
				list = append(list, record.ShapesOf(page.Runs)...)
				if f.Cursor = page.Next; f.Cursor == "" {
					return printList(c.out, shapeColumns, list)
				}
			}
		}),
	}
	return printing(c, "list of shape")
}

func flowDraw(a *app) *cobra.Command {
	var as string
	c := &cobra.Command{
		Use: "draw FLOW|RUN", Short: "Draw a flow, or where the nodes of a run stand", Args: cobra.ExactArgs(1),
		Long: `Draw a flow, or where the nodes of a run stand, as a flowchart of Mermaid or for Graphviz.

A flow is that of this program, if it has one of that name, and needs no store then; else
the one whose shape was stored last, see flow list. A RUN is drawn with the shape that it began
with; if this program has another one, the notes say what differs. Steps beside the shape
are in the JSON.`,
		ValidArgsFunction: a.completeFirst(a.completeRuns),
		RunE: func(cmd *cobra.Command, args []string) error {
			if as != record.AsMermaid && as != record.AsDOT {
				return usage(cmd, "--as %q is none of %s, %s", as, record.AsMermaid, record.AsDOT)
			}
			if own := a.flowOf(args[0]); own != nil {
				if err := a.checkFlags(cmd); err != nil {
					return err
				}
				return drawnShape(&printer{w: cmd.OutOrStdout(), format: a.output}, own, as)
			}
			return a.reads(func(c *call, args []string) error { return draw(c, args[0], as) })(cmd, args)
		},
	}
	c.Flags().StringVar(&as, "as", record.AsMermaid, record.AsMermaid+" or "+record.AsDOT)
	must(c.RegisterFlagCompletionFunc("as", cobra.FixedCompletions([]string{record.AsMermaid, record.AsDOT}, cobra.ShellCompDirectiveNoFileComp)))
	return printing(c, "drawing")
}

// flowOf is the program's own flow of a name, nil if it has none.
func (a *app) flowOf(name string) *flow.Shape {
	i := slices.IndexFunc(a.o.Flows, func(s *flow.Shape) bool { return s.Flow == name })
	if i < 0 {
		return nil
	}
	return a.o.Flows[i]
}

// draw draws what is stored.
func draw(c *call, arg, as string) error {
	if _, err := journal.ParseRunID(arg); err != nil && !strings.HasPrefix(arg, keyPrefix) {
		s, err := flows.Newest(c.ctx, c.client, arg)
		if err != nil {
			return err
		}
		return drawnShape(c.out, s, as)
	}
	run, err := c.run(arg)
	if err != nil {
		return err
	}
	row, err := c.rowOf(run)
	if err != nil {
		return err
	}
	own := c.a.flowOf(row.Workflow)
	st, err := flows.State(c.ctx, c.client, run, own)
	if err != nil {
		return err
	}
	rec := record.DrawingOf(st, run.String())
	if own != nil && own.Hash() != st.Hash {
		c.note("the run began with another shape than this program has")
		rec.Differs = st.Shape.Difference(own)
		for _, line := range rec.Differs {
			c.note("%s", line)
		}
	}
	return drawn(c.out, st, rec, as)
}

// drawnShape prints a flow.
func drawnShape(p *printer, s *flow.Shape, as string) error {
	st := &flow.State{Shape: s, Hash: s.Hash()}
	return drawn(p, st, record.DrawingOf(st, ""), as)
}

// drawn prints a flow, or a run of one.
func drawn(p *printer, st *flow.State, rec record.Drawing, as string) error {
	return printOne(p, &rec, func(*printer, *record.Drawing) string {
		text, _ := record.Draw(st, as)
		lines := strings.Split(text, "\n")
		for i := range lines {
			lines[i] = clean(lines[i])
		}
		return strings.Join(lines, "\n")
	})
}
