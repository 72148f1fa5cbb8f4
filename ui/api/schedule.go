package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime/schedule"
	"github.com/reprise-run/reprise/runtime/schedule/calendar"
	"github.com/reprise-run/reprise/ui/record"
)

// previewMax is how many times a preview shows at most.
const previewMax = 1_000

var (
	afterParam  = text("after", "from then on, instead of now: 2026-11-30 or 2026-11-30T02:30:00Z")
	numberParam = number("number", "how many times: 1 to 1000; default 10")
)

func scheduleOperations() []*operation {
	slots := reflect.TypeFor[[]record.Slot]()
	return []*operation{
		{method: http.MethodGet, path: "/schedules", verbs: []string{"schedule list"}, summary: "List schedules, when they run next, and what they have done, without their definitions.",
			params: []param{text("set", "only schedules of this set")}, answer: reflect.TypeFor[[]record.Schedule](), do: listSchedules},
		{method: http.MethodGet, path: "/schedules/{schedule}", verbs: []string{"schedule show"}, summary: "Show a schedule, what it waits for, what it has done, its next slots and its newest runs.",
			answer: reflect.TypeFor[record.Schedule](), do: showSchedule},
		{method: http.MethodGet, path: "/schedules/{schedule}/preview", verbs: []string{"schedule preview"}, summary: "List the next times of a schedule, with what daylight saving does to them.",
			params: []param{afterParam, numberParam}, answer: slots, do: previewSchedule},
		{method: http.MethodPost, path: "/schedules/preview", verbs: []string{"schedule preview"}, summary: "List the next times of a spec that no schedule has yet. Nothing is written.",
			body: reflect.TypeFor[previewRequest](), answer: slots, do: previewSpec},
	}
}

// schedulesOf are those of a set that the actor may see, as it is shown them. A schedule is a run,
// so Allow is asked about that.
func schedulesOf(c *call, set string) ([]schedule.Found, error) {
	found, err := schedule.List(c.ctx, c.h.client, set)
	if err != nil {
		return nil, err
	}
	if c.h.o.Allow == nil {
		return found, nil
	}
	var ids []journal.RunID
	for i := range found {
		ids = append(ids, found[i].Run)
	}
	seen, err := c.seen(ids)
	if err != nil {
		return nil, err
	}
	var list []schedule.Found
	for i := range found {
		if seen[found[i].Run] {
			list = append(list, found[i])
		}
	}
	return list, nil
}

// scheduleOf finds the schedule of the path, if the actor may see it and do to it what the
// operation does.
func scheduleOf(c *call) (schedule.Found, error) {
	id := c.r.PathValue("schedule")
	missing := howTo(notFound, "GET schedules lists the schedules that there are", "no schedule is %q", id)
	f, err := schedule.Get(c.ctx, c.h.client, id)
	if k, _ := kindOf(err); err != nil && k == notFound {
		return f, missing
	}
	if err != nil || c.h.o.Allow == nil {
		return f, err
	}
	row, err := c.read(f.Run)
	if err != nil {
		return f, err
	}
	if row == nil || !c.sees(row) {
		return f, missing
	}
	return f, c.may(c.op.verb(), row)
}

// scheduleShown is what the actor is shown of a schedule. All but its id and its run is what the
// run has published, so the rules for that apply; its definition has headers, which belong to an
// input.
func scheduleShown(c *call, f *schedule.Found) record.Schedule {
	hidden := record.Schedule{ID: f.ID, Run: f.Run.String(), State: "hidden"}
	if f.Schedule.Start.Workflow == "" { // no node has begun with it
		return record.ScheduleOf(f)
	}
	if c.h.o.HideInputs {
		f.Schedule.Start.Headers = nil
	}
	if c.maker.Show != nil {
		text, err := json.Marshal(&f.Info)
		p := c.maker.Show(record.Source{Run: f.Run, Kind: record.FromPublished, Name: schedule.Published}, &record.Payload{Value: text})
		if err != nil || p == nil || p.Value == nil {
			return hidden
		}
		id := f.ID
		f.Info = schedule.Info{}
		if err := json.Unmarshal(p.Value, &f.Info); err != nil || f.Schedule.Start.Workflow == "" {
			return hidden
		}
		f.ID = id
	}
	return record.ScheduleOf(f)
}

func listSchedules(c *call) (any, error) {
	if err := c.may(c.op.verb(), nil); err != nil {
		return nil, err
	}
	found, err := schedulesOf(c, c.text("set"))
	if err != nil {
		return nil, err
	}
	list := []record.Schedule{}
	for i := range found {
		rec := scheduleShown(c, &found[i])
		rec.Definition = nil
		list = append(list, rec)
	}
	return list, nil
}

func showSchedule(c *call) (any, error) {
	f, err := scheduleOf(c)
	if err != nil {
		return nil, err
	}
	rec := scheduleShown(c, &f)
	if rec.Definition != nil {
		rec.Coming = record.ComingOf(&f, c.h.now())
	}
	if c.h.o.Allow != nil {
		row, err := c.read(f.Run)
		if err != nil {
			return nil, err
		}
		if row != nil { // else it has gone meanwhile
			rec.May = mayDo(c, schedulePath, row)
		}
	}
	page, err := c.page(record.ScheduledBy(f.ID, 0), "", record.RecentRuns)
	rec.Recent = page.Runs
	return &rec, err
}

// previewOf lists the next times of a spec.
func previewOf(c *call, s calendar.Spec, after string, n int) (any, error) {
	times, err := calendar.Compile(s)
	if err != nil {
		return nil, refuse(invalidRequest, "%v", err)
	}
	at := c.h.now()
	if after != "" {
		if at, err = record.ParseTime(after); err != nil {
			return nil, refuse(invalidRequest, "%q: %v", "after", err)
		}
		at = at.Add(-1) // a slot at that moment counts
	}
	return record.SlotsOf(times, at, n), nil
}

func previewSchedule(c *call) (any, error) {
	n := int(c.number("number", record.NextSlots, 1, previewMax))
	if c.wrong != nil {
		return nil, c.wrong
	}
	f, err := scheduleOf(c)
	if err != nil {
		return nil, err
	}
	if rec := scheduleShown(c, &f); rec.Definition == nil {
		return nil, howTo(conflict, "ask again when a node has begun with it", "schedule %q does not show what it says", f.ID)
	}
	return previewOf(c, f.Schedule.Spec, c.text("after"), n)
}

// previewRequest is the body of a preview of a spec: the fields of a schedule that say when.
type previewRequest struct {
	Cron   json.RawMessage `json:"cron,omitempty" doc:"a line of cron, or a list of them: 30 2 * * mon-fri"`
	Every  json.RawMessage `json:"every,omitempty" doc:"intervals: [{\"every\": \"90m\", \"offset\": \"5m\"}]"`
	On     json.RawMessage `json:"on,omitempty" doc:"lists of fields, all of which must fit: [{\"day\": 1, \"hour\": 12}]"`
	Except json.RawMessage `json:"except,omitempty" doc:"times that do not run: [{\"day\": 25, \"month\": \"dec\"}]"`
	Zone   string          `json:"zone,omitempty" doc:"a zone, such as Europe/Berlin; default UTC"`
	Gap    string          `json:"gap,omitempty" doc:"what becomes of a time that does not exist: after, before or skip"`
	Repeat string          `json:"repeat,omitempty" doc:"what becomes of a time that exists twice: first, second or both"`
	Jitter string          `json:"jitter,omitempty" doc:"how much later a run may start: 5m"`
	From   string          `json:"from,omitempty" doc:"no times before then: 2026-11-30T00:00:00Z"`
	Until  string          `json:"until,omitempty" doc:"only times before then: 2026-12-31T00:00:00Z"`
	After  string          `json:"after,omitempty" doc:"from then on, instead of now: 2026-11-30 or 2026-11-30T02:30:00Z"`
	Number int             `json:"number,omitempty" doc:"how many times: 1 to 1000; default 10"`
}

func previewSpec(c *call) (any, error) {
	if err := c.may(c.op.verb(), nil); err != nil {
		return nil, err
	}
	b := *c.body.(*previewRequest)
	after, n := b.After, b.Number
	if n == 0 {
		n = record.NextSlots
	}
	if n < 1 || n > previewMax {
		return nil, refuse(invalidRequest, "field %q is no number from 1 to %d: %d", "number", previewMax, n)
	}
	b.After, b.Number = "", 0
	text, err := json.Marshal(&b)
	var s calendar.Spec
	if err == nil {
		err = strictly(text, &s)
	}
	if err != nil {
		return nil, refuse(invalidRequest, "the spec: %v", err)
	}
	return previewOf(c, s, after, n)
}

// strictly decodes what has its own rules for JSON, and refuses what it does not know.
func strictly(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("docs/schedules.md has the fields: %w", err)
	}
	return nil
}
