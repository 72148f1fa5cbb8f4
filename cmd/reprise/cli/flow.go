package cli

import (
	"slices"
	"strings"
	"time"

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

// shapeRecord is a shape that is stored.
type shapeRecord struct {
	Flow     string    `json:"flow" doc:"name of the flow"`
	Shape    string    `json:"shape" doc:"hash of the shape"`
	StoredAt time.Time `json:"stored_at" doc:"when it was stored"`
	Run      string    `json:"run" doc:"id of the run that keeps it"`
}

var shapeColumns = []column[shapeRecord]{
	{"FLOW", func(_ *printer, r *shapeRecord) string { return oneLine(r.Flow, 60) }},
	{"SHAPE", func(_ *printer, r *shapeRecord) string { return r.Shape }},
	{"STORED", func(p *printer, r *shapeRecord) string { return p.at(r.StoredAt) }},
}

func flowList(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "list", Short: "List the shapes of flows that are stored, newest first", Args: cobra.NoArgs,
		RunE: a.reads(func(c *call, _ []string) error {
			list := []shapeRecord{}
			for f := (journal.ListFilter{KeyPrefix: flows.KeyPrefix, Limit: journal.ListMax}); ; {
				page, err := c.client.List(c.ctx, f)
				if err != nil {
					return err
				}
				c.out.now = page.Now
				for i := range page.Runs {
					r := &page.Runs[i]
					if name, ok := strings.CutPrefix(r.Workflow, flows.WorkflowPrefix); ok {
						list = append(list, shapeRecord{name, strings.TrimPrefix(r.Key, flows.KeyPrefix), r.CreatedAt, r.ID.String()})
					}
				}
				if f.Cursor = page.Next; f.Cursor == "" {
					return printList(c.out, shapeColumns, list)
				}
			}
		}),
	}
	return printing(c, "list of shape")
}

// drawingRecord is a flow, or a run of one.
type drawingRecord struct {
	Flow   string           `json:"flow" doc:"name of the flow"`
	Shape  string           `json:"shape" doc:"hash of the shape"`
	Run    string           `json:"run,omitempty" doc:"of a run: its id"`
	Status string           `json:"status,omitempty" doc:"of a run: open, completed, failed, cancelled, terminated or continued"`
	Nodes  []flowNodeRecord `json:"nodes" doc:"the nodes, by name"`
	Beside []string         `json:"beside,omitempty" doc:"of a run: steps of its history that no node of the shape has"`
}

// flowNodeRecord is a node of a flow.
type flowNodeRecord struct {
	Name      string         `json:"name" doc:"name of the node, and of its steps"`
	Kind      string         `json:"kind" doc:"step, map, signal, time, call, flow or code"`
	After     []string       `json:"after,omitempty" doc:"the nodes that it comes after"`
	Quorum    int            `json:"quorum,omitempty" doc:"how many of them it awaits, if not all"`
	If        []string       `json:"if,omitempty" doc:"its conditions, in words"`
	Unmet     string         `json:"unmet,omitempty" doc:"what an unmet condition means: fail, skip or skip-descendants"`
	Exhausted string         `json:"exhausted,omitempty" doc:"what its failure means, if not that of the run"`
	Since     string         `json:"since,omitempty" doc:"the change that has brought it"`
	Until     string         `json:"until,omitempty" doc:"the change that takes it away"`
	Undo      bool           `json:"undo,omitempty" doc:"whether it has a compensation"`
	Calls     string         `json:"calls,omitempty" doc:"the signal or workflow that it is about"`
	Nested    *drawingRecord `json:"nested,omitempty" doc:"the flow that it is"`

	Status  string     `json:"status,omitempty" doc:"of a run: waiting, running, completed, skipped, failed, cancelled, or left if the run ended before it began"`
	Reason  string     `json:"reason,omitempty" doc:"why it was skipped: condition_unmet, dependency_skipped, handler_failed or change"`
	BeganAt *time.Time `json:"began_at,omitempty" doc:"when it began"`
	EndedAt *time.Time `json:"ended_at,omitempty" doc:"when it ended, or was skipped"`
	Steps   int        `json:"steps,omitempty" doc:"steps of it that have completed: of a map its progress"`
	Error   string     `json:"error,omitempty" doc:"of the last of its steps that failed"`
	Undone  bool       `json:"undone,omitempty" doc:"whether it was undone"`
}

// The languages of pictures.
const (
	asMermaid = "mermaid"
	asDOT     = "dot"
)

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
			if as != asMermaid && as != asDOT {
				return usage(cmd, "--as %q is none of %s, %s", as, asMermaid, asDOT)
			}
			if own := a.flowOf(args[0]); own != nil {
				if err := a.checkFlags(cmd); err != nil {
					return err
				}
				return drawn(&printer{w: cmd.OutOrStdout(), format: a.output}, &flow.State{Shape: own, Hash: own.Hash()}, "", as)
			}
			return a.reads(func(c *call, args []string) error { return draw(c, args[0], as) })(cmd, args)
		},
	}
	c.Flags().StringVar(&as, "as", asMermaid, asMermaid+" or "+asDOT)
	must(c.RegisterFlagCompletionFunc("as", cobra.FixedCompletions([]string{asMermaid, asDOT}, cobra.ShellCompDirectiveNoFileComp)))
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
		return drawn(c.out, &flow.State{Shape: s, Hash: s.Hash()}, "", as)
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
	if own != nil && own.Hash() != st.Hash {
		c.note("the run began with another shape than this program has")
		for _, line := range st.Shape.Difference(own) {
			c.note("%s", line)
		}
	}
	return drawn(c.out, st, run.String(), as)
}

// drawn prints a flow, or a run of one.
func drawn(p *printer, st *flow.State, run, as string) error {
	rec := drawingOf(st, run)
	return printOne(p, &rec, func(*printer, *drawingRecord) string {
		text := st.Mermaid()
		if as == asDOT {
			text = st.DOT()
		}
		lines := strings.Split(text, "\n")
		for i := range lines {
			lines[i] = clean(lines[i])
		}
		return strings.Join(lines, "\n")
	})
}

func drawingOf(st *flow.State, run string) drawingRecord {
	rec := drawingRecord{Flow: st.Shape.Flow, Shape: st.Hash, Run: run, Status: st.Run, Beside: st.Beside, Nodes: []flowNodeRecord{}}
	for i := range st.Shape.Nodes {
		n := &st.Shape.Nodes[i]
		node := flowNodeRecord{Name: n.Name, Kind: string(n.Kind), After: n.After, Quorum: n.Quorum, If: n.If, Unmet: string(n.Unmet),
			Exhausted: string(n.Exhausted), Since: n.Since, Until: n.Until, Undo: n.Undo, Calls: n.Calls}
		if n.Nested != nil {
			nested := drawingOf(&flow.State{Shape: n.Nested, Hash: n.Nested.Hash()}, "")
			node.Nested = &nested
		}
		if i < len(st.Nodes) {
			s := &st.Nodes[i]
			node.Status, node.Reason, node.BeganAt, node.EndedAt = string(s.Status), string(s.Reason), record.Moment(s.Began), record.Moment(s.Ended)
			node.Steps, node.Error, node.Undone = s.Steps, s.Error, s.Undone
		}
		rec.Nodes = append(rec.Nodes, node)
	}
	return rec
}
