package journaltest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// filterProgram makes random filters that select some of the runs that plantRuns has made: its
// values are those of the runs, or near to them.
type filterProgram struct {
	*rand.Rand
	runs   []journal.Run
	parent journal.RunID
	node   journal.NodeID
}

func pick[T any](g *filterProgram, list ...T) T { return list[g.IntN(len(list))] }

// filter returns a condition, with an order most of the time.
func (g *filterProgram) filter() string {
	text := g.expr(3)
	if g.IntN(3) > 0 {
		text += " order by " + pick(g, "created", "closed", "duration") + pick(g, "", " asc", " desc")
	}
	return text
}

func (g *filterProgram) expr(depth int) string {
	if depth == 0 || g.IntN(3) == 0 {
		return g.cond()
	}
	switch g.IntN(4) {
	case 0:
		return "not (" + g.expr(depth-1) + ")"
	case 1:
		return "(" + g.expr(depth-1) + ") or " + g.expr(depth-1)
	}
	return "(" + g.expr(depth-1) + ") and " + "(" + g.expr(depth-1) + ")"
}

// cond returns a condition on a random field with a random operator and values of a random run.
func (g *filterProgram) cond() string {
	run := g.runs[g.IntN(len(g.runs))]
	switch g.IntN(8) {
	case 0:
		return g.list("status", `"open"`, `"completed"`, `"failed"`, `"cancelled"`, `"terminated"`, `"blocked"`, `"quarantined"`, `"paused"`, `"limited"`)
	case 1:
		return g.text(pick(g, "workflow", "queue", "key"), pick(g, run.Workflow, run.Queue, run.Key))
	case 2:
		field := pick(g, "waiting", "error.class")
		return g.text(field, pick(g, "timer", "step", "step a @", "signal go", "Timeout", "reprise.Timeout", "pay.Declined", "declined", "money", "test"))
	case 3:
		return g.ordered(pick(g, "version", "priority", "generation"), fmt.Sprint(pick(g, 1, 2, 3, 4, 5)), "3")
	case 4:
		return g.ordered("node", fmt.Sprint(g.node), fmt.Sprint(g.node+1))
	case 5:
		return g.list(pick(g, "id", "parent"), `"`+run.ID.String()+`"`, `"`+g.parent.String()+`"`)
	case 6:
		return g.time(&run)
	}
	return g.label()
}

func (g *filterProgram) list(field string, values ...string) string {
	if g.IntN(3) == 0 {
		return fmt.Sprintf("%s in (%s, %s)", field, pick(g, values...), pick(g, values...))
	}
	return field + pick(g, " = ", " != ") + pick(g, values...)
}

func (g *filterProgram) text(field, value string) string {
	if value == "" {
		value = "none"
	}
	if field != "workflow" && field != "queue" && g.IntN(5) == 0 {
		return field + pick(g, " is set", " is not set")
	}
	if g.IntN(4) == 0 {
		runes := []rune(value)
		return fmt.Sprintf("%s starts with %q", field, string(runes[:1+g.IntN(len(runes))]))
	}
	return g.list(field, fmt.Sprintf("%q", value), fmt.Sprintf("%q", strings.ToUpper(value)))
}

// ordered compares with one of two values that have an order.
func (g *filterProgram) ordered(field, a, b string) string {
	switch g.IntN(5) {
	case 0:
		return fmt.Sprintf("%s between %s and %s", field, a, b)
	case 1:
		return fmt.Sprintf("%s in (%s, %s)", field, a, b)
	}
	return field + pick(g, " = ", " != ", " < ", " <= ", " > ", " >= ") + pick(g, a, b)
}

// time compares a time or a duration with that of a run, exactly, so that < and <= differ.
func (g *filterProgram) time(run *journal.Run) string {
	exact := func(t time.Time) string {
		if t.IsZero() {
			return "now"
		}
		return t.UTC().Format(time.RFC3339Nano)
	}
	switch field := pick(g, "created", "started", "closed", "deadline", "duration"); field {
	case "created":
		return g.ordered(field, exact(run.CreatedAt), "-1h")
	case "started":
		return g.ordered(field, exact(run.StartAt), "+1h")
	case "closed":
		return g.ordered(field, exact(run.ClosedAt), "-2d")
	case "deadline":
		return pick(g, "deadline is set", g.ordered(field, exact(run.StartAt.Add(run.Timeout)), "+30m"))
	default:
		took := max(run.ClosedAt.Sub(run.StartAt), 0)
		return pick(g, "duration is not set", g.ordered(field, fmt.Sprintf("%dus", took.Microseconds()), "10ms"))
	}
}

func (g *filterProgram) label() string {
	switch g.IntN(4) {
	case 0:
		return g.ordered("total", pick(g, "7", "0", "100", "0.1", "-3.50"), pick(g, "99999999999999999999", "100.0"))
	case 1:
		return g.ordered("due", pick(g, "2026-11-28", "2026-11-28T00:00:00.000001Z"), "2026-11-28T00:00:00Z")
	case 2:
		return g.list("paid", "true", "false", `"TRUE"`, `""`, `"true"`)
	}
	return g.text(pick(g, "total", "due", "nothing", `label."my key"`), pick(g, "100", "2026-11-28", "grün", `"quoted" %`))
}
