package record

import "github.com/reprise-run/reprise/journal"

// Tally is what was counted.
type Tally struct {
	Runs   int     `json:"runs" doc:"how many runs were counted"`
	Capped bool    `json:"capped,omitempty" doc:"there are more, which were not counted, and groups and times are of some of the runs"`
	Groups []Group `json:"groups" doc:"the largest first, at most 1,000"`
}

// Group is the runs with the same values of all groupings.
type Group struct {
	Values map[string]string `json:"values,omitempty" doc:"by the names of the groupings; a time is the beginning of its bucket, what a run does not have is empty"`
	Runs   int               `json:"runs" doc:"how many runs"`
	Closed int               `json:"closed" doc:"those that are closed"`
	P50    float64           `json:"p50_seconds,omitempty" doc:"half of the closed runs took no longer"`
	P95    float64           `json:"p95_seconds,omitempty" doc:"95 of a hundred closed runs took no longer"`
	Steps  int64             `json:"steps,omitempty" doc:"if histories were asked for: outcomes of steps in the present generations"`
	Tries  int64             `json:"attempts,omitempty" doc:"if histories were asked for: attempts that these took"`
}

// TallyOf returns the record of what was counted by groupings.
func TallyOf(a *journal.Aggregated, by []journal.Grouping) Tally {
	rec := Tally{Runs: a.Runs, Capped: a.Capped, Groups: []Group{}}
	for i := range a.Groups {
		g := &a.Groups[i]
		r := Group{Runs: g.Runs, Closed: g.Closed, P50: g.P50.Seconds(), P95: g.P95.Seconds(), Steps: g.Steps, Tries: g.Attempts}
		if len(by) > 0 {
			r.Values = map[string]string{}
		}
		for k := range by {
			r.Values[by[k].Field] = g.Values[k]
		}
		rec.Groups = append(rec.Groups, r)
	}
	return rec
}
