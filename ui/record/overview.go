package record

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// Overview is how all runs are, as of one moment.
type Overview struct {
	At          time.Time          `json:"at" doc:"when it was counted"`
	From        time.Time          `json:"from" doc:"when the first bucket begins"`
	Bucket      float64            `json:"bucket_seconds" doc:"width of a bucket"`
	Open        int                `json:"open" doc:"open runs, with those that are blocked, quarantined and paused"`
	Blocked     int                `json:"blocked" doc:"runs that are blocked"`
	Quarantined int                `json:"quarantined" doc:"runs that are quarantined"`
	Paused      int                `json:"paused" doc:"runs that are paused, each by itself"`
	Due         int                `json:"due" doc:"runs that wait for a node now, if the reader may know of queues"`
	OldestAt    *time.Time         `json:"oldest_at,omitempty" doc:"since when the one of these that has waited for longest is due"`
	Capped      bool               `json:"capped,omitempty" doc:"whether something was counted up to a limit, so that numbers are too small"`
	Buckets     []OverviewBucket   `json:"buckets" doc:"what happened over time, oldest first; the last one has not ended"`
	Workflows   []OverviewWorkflow `json:"workflows" doc:"by workflow and version, the most troubled first"`
}

// OverviewBucket is what happened in a time.
type OverviewBucket struct {
	At      time.Time `json:"at" doc:"when it begins"`
	Started int       `json:"started" doc:"runs that were started"`
	Closed  int       `json:"closed" doc:"runs that ended, of those that were started at most twice the window ago"`
	Failed  int       `json:"failed" doc:"of these, those that failed"`
}

// OverviewWorkflow is how the runs of a version of a workflow are.
type OverviewWorkflow struct {
	Workflow    string     `json:"workflow" doc:"name of the workflow"`
	Version     int32      `json:"version" doc:"version of the workflow"`
	Open        int        `json:"open" doc:"open runs, whenever they were started"`
	Blocked     int        `json:"blocked" doc:"runs of them that are blocked"`
	Quarantined int        `json:"quarantined" doc:"runs of them that are quarantined"`
	Paused      int        `json:"paused" doc:"runs of them that are paused, each by itself"`
	Due         int        `json:"due" doc:"runs of them that wait for a node now"`
	OldestAt    *time.Time `json:"oldest_at,omitempty" doc:"since when the one of these that has waited for longest is due"`
	Started     int        `json:"started" doc:"runs that were started since from"`
	Completed   int        `json:"completed" doc:"of these, those that have completed"`
	Failed      int        `json:"failed" doc:"of these, those that have failed"`
	P50         float64    `json:"p50_seconds,omitempty" doc:"half of those that have completed took no longer"`
	P95         float64    `json:"p95_seconds,omitempty" doc:"95 of a hundred that have completed took no longer"`
}

// Windows are the words for the time that an overview is about.
var Windows = []string{"1h", "6h", "24h", "7d", "30d"}

// buckets are the widths of their buckets: two windows have fewer groups of buckets and statuses
// than a count answers.
var buckets = map[string]struct{ window, bucket time.Duration }{
	"1h": {time.Hour, time.Minute}, "6h": {6 * time.Hour, 5 * time.Minute}, "24h": {24 * time.Hour, 30 * time.Minute},
	"7d": {7 * 24 * time.Hour, 3 * time.Hour}, "30d": {30 * 24 * time.Hour, 24 * time.Hour},
}

// overview makes an overview of what is counted.
type overview struct {
	count func(journal.Aggregate) (journal.Aggregated, error)
	Overview
	window, bucket time.Duration
	rows           map[route]*OverviewWorkflow
	err            error // the first one
}

type route struct {
	workflow string
	version  int32
}

// OverviewOf counts for one of Windows up to now. waits is nil if the reader may not know of it.
func OverviewOf(window string, now time.Time, waits []driver.Backlog, count func(journal.Aggregate) (journal.Aggregated, error)) (*Overview, error) {
	b := buckets[window]
	v := &overview{count: count, window: b.window, bucket: b.bucket, rows: map[route]*OverviewWorkflow{}}
	v.At, v.Bucket, v.From = now.UTC(), b.bucket.Seconds(), now.Add(-b.window).UTC().Truncate(b.bucket)
	v.Buckets, v.Workflows = []OverviewBucket{}, []OverviewWorkflow{}
	for at := v.From; !at.After(now); at = at.Add(b.bucket) {
		v.Buckets = append(v.Buckets, OverviewBucket{At: at})
	}
	v.times()
	v.outcomes()
	v.states()
	v.waits(waits)
	if v.err != nil {
		return nil, v.err
	}
	for _, r := range v.rows {
		v.Workflows = append(v.Workflows, *r)
	}
	slices.SortFunc(v.Workflows, func(a, b OverviewWorkflow) int {
		return cmp.Or(cmp.Compare(b.Blocked+b.Quarantined, a.Blocked+a.Quarantined), cmp.Compare(b.Failed, a.Failed), cmp.Compare(b.Started, a.Started),
			cmp.Compare(b.Open, a.Open), cmp.Compare(a.Workflow, b.Workflow), cmp.Compare(b.Version, a.Version))
	})
	return &v.Overview, nil
}

// groups counts.
func (v *overview) groups(f journal.ListFilter, by ...journal.Grouping) []journal.Group {
	if v.err != nil {
		return nil
	}
	out, err := v.count(journal.Aggregate{Filter: f, By: by})
	v.err = err
	v.Capped = v.Capped || out.Capped || len(out.Groups) == journal.GroupsMax
	return out.Groups
}

// times counts what happened when. Nothing says which runs ended in a time, whenever they were
// started, without looking at all of them: so it looks at those of two windows.
func (v *overview) times() {
	recent := journal.ListFilter{Since: v.From.Add(-v.window)}
	for _, g := range v.groups(recent, journal.Grouping{Field: "created", Bucket: v.bucket}) {
		if b := v.at(g.Values[0]); b != nil {
			b.Started += g.Runs
		}
	}
	for _, g := range v.groups(recent, journal.Grouping{Field: "closed", Bucket: v.bucket}, journal.Grouping{Field: "status"}) {
		b := v.at(g.Values[0])
		if b == nil {
			continue
		}
		if b.Closed += g.Runs; g.Values[1] == journal.Failed.String() {
			b.Failed += g.Runs
		}
	}
}

// at returns the bucket that begins then, nil for what is before the first one.
func (v *overview) at(text string) *OverviewBucket {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || at.Before(v.From) {
		return nil
	}
	if i := int(at.Sub(v.From) / v.bucket); i < len(v.Buckets) {
		return &v.Buckets[i]
	}
	return nil
}

var byRoute = []journal.Grouping{{Field: "workflow"}, {Field: "version"}}

// row returns that of a group by workflow and version.
func (v *overview) row(g *journal.Group) *OverviewWorkflow {
	version, _ := strconv.ParseInt(g.Values[1], 10, 32) // it is one
	return v.of(route{g.Values[0], int32(version)})
}

func (v *overview) of(r route) *OverviewWorkflow {
	if v.rows[r] == nil {
		v.rows[r] = &OverviewWorkflow{Workflow: r.workflow, Version: r.version}
	}
	return v.rows[r]
}

// outcomes counts what has become of the runs that were started since the first bucket.
func (v *overview) outcomes() {
	for _, g := range v.groups(journal.ListFilter{Since: v.From}, append(byRoute[:2:2], journal.Grouping{Field: "status"})...) {
		r := v.row(&g)
		r.Started += g.Runs
		switch g.Values[2] {
		case journal.Completed.String():
			r.Completed, r.P50, r.P95 = g.Runs, g.P50.Seconds(), g.P95.Seconds()
		case journal.Failed.String():
			r.Failed = g.Runs
		}
	}
}

// states counts open runs, whenever they were started.
func (v *overview) states() {
	for _, g := range v.groups(journal.ListFilter{Status: new(journal.Open)}, byRoute...) {
		v.Open += g.Runs
		v.row(&g).Open = g.Runs
	}
	for _, s := range []struct {
		state journal.TaskState
		all   *int
		of    func(*OverviewWorkflow) *int
	}{
		{journal.Blocked, &v.Blocked, func(r *OverviewWorkflow) *int { return &r.Blocked }},
		{journal.Quarantined, &v.Quarantined, func(r *OverviewWorkflow) *int { return &r.Quarantined }},
		{journal.Paused, &v.Paused, func(r *OverviewWorkflow) *int { return &r.Paused }},
	} {
		for _, g := range v.groups(journal.ListFilter{State: &s.state}, byRoute...) {
			*s.all += g.Runs
			*s.of(v.row(&g)) = g.Runs
		}
	}
}

// waits adds what waits for a node. A route is also of a queue.
func (v *overview) waits(list []driver.Backlog) {
	for i := range list {
		b := &list[i]
		r := v.of(route{b.Route.Workflow, b.Route.Version})
		v.Due, r.Due = v.Due+b.Due, r.Due+b.Due
		v.Capped = v.Capped || b.Due >= driver.BacklogDueMax
		for _, oldest := range []**time.Time{&v.OldestAt, &r.OldestAt} {
			if at := Moment(b.Oldest); at != nil && (*oldest == nil || at.Before(**oldest)) {
				*oldest = at
			}
		}
	}
}
