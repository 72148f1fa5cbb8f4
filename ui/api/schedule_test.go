package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime/clustertest"
	"github.com/reprise-run/reprise/runtime/schedule"
	"github.com/reprise-run/reprise/ui/api"
	"github.com/reprise-run/reprise/ui/record"
)

// nightly is the body that applies a set with one schedule.
const nightly = `{"set": "shop7", "schedules": [{"name": "nightly", "cron": "30 2 * * *", "zone": "Europe/Berlin", "overlap": "allow",
	"start": {"workflow": "parcel", "input": "SECRET-input", "headers": {"token": "SECRET-header"}}}]}`

// applied applies a set and waits until its schedule has begun.
func (s *shop) applied(body, id string) (shown record.Schedule) {
	s.t.Helper()
	s.must(http.StatusOK, "POST", "/schedules", body, nil)
	clustertest.Until(s.t, "schedule "+id+" has begun", func() bool {
		s.must(http.StatusOK, "GET", "/schedules/"+id, "", &shown)
		return shown.State != "new"
	})
	return shown
}

// scheduleVerbs: the life of a set.
func (s *shop) scheduleVerbs() {
	const path = "/schedules/shop7%2Fnightly"
	var change record.ScheduleChange
	if s.must(http.StatusOK, "POST", "/schedules?dry_run", nightly, &change); !slices.Equal(change.Added, []string{"nightly"}) || change.Set != "shop7" {
		s.t.Errorf("the dry run says %+v", change)
	}
	s.refused("eva", "GET", path, "", "not-found", "shop7/nightly")
	shown := s.applied(nightly, "shop7%2Fnightly")
	if shown.State != "active" || shown.Overlap != "allow" || len(shown.Coming) != record.NextSlots || !shown.Coming[0].At.Equal(*shown.NextAt) || shown.Definition == nil {
		s.t.Errorf("the schedule is %+v", shown)
	}
	for body, want := range map[string]record.ScheduleChange{
		nightly: {Set: "shop7", Kept: 1},
		strings.Replace(nightly, "SECRET-input", "other", 1): {Set: "shop7", Changed: []string{"nightly"}},
		strings.Replace(nightly, "nightly", "daily", 1):      {Set: "shop7", Added: []string{"daily"}, Removed: []string{"nightly"}},
	} {
		var would record.ScheduleChange
		if s.must(http.StatusOK, "POST", "/schedules?dry_run", body, &would); !equalJSON(would, want) {
			s.t.Errorf("a dry run of %s says %+v, want %+v", body, would, want)
		}
	}
	var told record.ScheduleTold
	s.must(http.StatusOK, "POST", path+"/pause", `{"reason": "holiday"}`, &told)
	if s.must(http.StatusOK, "POST", path+"/trigger", `{"key": "k1", "overlap": "allow"}`, &told); told.Key != "schedule:shop7/nightly!k1" || told.ID != "shop7/nightly" {
		s.t.Errorf("the trigger says %+v", told)
	}
	s.must(http.StatusOK, "POST", path+"/backfill", `{"from": "2026-06-01", "to": "2026-06-02T12:00:00Z", "at_once": true}`, &told)
	clustertest.Until(s.t, "the schedule has done as it was told", func() bool {
		s.must(http.StatusOK, "GET", path, "", &shown)
		return shown.State == "paused" && shown.Started == 3 && len(shown.Recent) == 3
	})
	if shown.Paused != "by eva: holiday" || shown.Recent[0].Labels[schedule.LabelSlot] == "" || len(shown.Open) != 3 {
		s.t.Errorf("the schedule is %+v", shown)
	}
	if text := s.must(http.StatusOK, "GET", "/runs/"+shown.Run+"/history", "", nil); !strings.Contains(text, `"actor":"eva"`) {
		s.t.Errorf("its history does not say who has told it what: %s", text)
	}
	s.must(http.StatusOK, "POST", path+"/resume", "", &told)
	var slots []record.Slot
	s.must(http.StatusOK, "GET", path+"/preview?after=2027-03-28T01:30:00Z&number=2", "", &slots)
	if len(slots) != 2 || slots[0].At.Format("15:04") != "01:30" || slots[0].Note == "" {
		s.t.Errorf("its next times are %+v", slots)
	}
	s.must(http.StatusOK, "POST", "/schedules/preview", `{"cron": "30 2 * * *", "zone": "Europe/Berlin", "gap": "skip", "after": "2026-03-29", "number": 1}`, &slots)
	if len(slots) != 1 && !slots[0].Omitted || slots[0].Note == "" {
		s.t.Errorf("the times of the spec are %+v", slots)
	}
	var list []record.Schedule
	if s.must(http.StatusOK, "GET", "/schedules?set=shop7", "", &list); len(list) != 1 || list[0].ID != "shop7/nightly" || list[0].Definition != nil {
		s.t.Errorf("the list is %+v", list)
	}
	if s.must(http.StatusOK, "GET", "/schedules?set=other", "", &list); len(list) != 0 {
		s.t.Errorf("the list of another set is %+v", list)
	}
	var gone record.ScheduleChange
	if s.must(http.StatusOK, "DELETE", path, "", &gone); !slices.Equal(gone.Removed, []string{"nightly"}) {
		s.t.Errorf("the deletion says %+v", gone)
	}
	clustertest.Until(s.t, "the schedule is gone", func() bool { return s.ask("eva", "GET", path, "").status == http.StatusNotFound })
}

func equalJSON(a, b any) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}

// TestSchedulesRefused: what is wrong is said before anything is stored.
func TestSchedulesRefused(t *testing.T) {
	t.Parallel()
	s := newShop(t, openMemory, nil)
	before := s.state(t)
	for _, c := range []struct{ method, path, body, kind, detail string }{
		{"POST", "/schedules", `{"schedules": null}`, "invalid-request", "an empty one, [], removes all"},
		{"POST", "/schedules", `{}`, "invalid-request", `"schedules" is missing`},
		{"POST", "/schedules", `{"schedules": {}}`, "invalid-request", "schedules"},
		{"POST", "/schedules", `{"schedules": [{"name": "a", "corn": "1 * * * *"}]}`, "invalid-request", `"corn"`},
		{"POST", "/schedules", `{"schedules": [{"name": "a", "cron": "61 * * * *", "start": {"workflow": "parcel"}}]}`, "invalid-request", "from 0 to 59"},
		{"POST", "/schedules?dry_run", `{"schedules": [{"name": "a", "cron": "61 * * * *", "start": {"workflow": "parcel"}}]}`, "invalid-request", "from 0 to 59"},
		{"POST", "/schedules", `{"schedules": [{"name": "a", "cron": "1 * * * *", "start": {"workflow": "reprise.bulk"}}]}`, "invalid-request", "runtime's own"},
		{"GET", "/schedules/a%2Fb%2Fc", "", "invalid-request", "may have letters"},
		{"GET", "/schedules/none", "", "not-found", `"none"`},
		{"POST", "/schedules/none/trigger", "", "not-found", `"none"`},
		{"POST", "/schedules/none/backfill", `{"from": "yesterday"}`, "invalid-request", `field "from"`},
		{"DELETE", "/schedules/none", "", "not-found", `"none"`},
		{"POST", "/schedules/preview", `{}`, "invalid-request", "no time"},
		{"POST", "/schedules/preview", `{"cron": "1 * * * *", "number": 1001}`, "invalid-request", `"number"`},
		{"POST", "/schedules/preview", `{"cron": "1 * * * *", "zone": "Europe/Berln"}`, "invalid-request", "Europe/Berlin"},
		{"POST", "/schedules/preview", `{"cron": "1 * * * *", "after": "soon"}`, "invalid-request", `"soon"`},
		{"GET", "/schedules/none/preview?number=0", "", "invalid-request", `"number"`},
	} {
		s.refused("eva", c.method, c.path, c.body, c.kind, c.detail)
	}
	if after := s.state(t); after != before {
		t.Errorf("the store was %s and is %s", before, after)
	}
}

// TestSchedulesWithoutNode: a change is stored when no node makes it, and the answer says so.
func TestSchedulesWithoutNode(t *testing.T) {
	t.Parallel()
	s := newShop(t, openMemory, nil)
	s.must(http.StatusOK, "POST", "/nodes/one/drain", "", nil)
	var change record.ScheduleChange
	if s.must(http.StatusAccepted, "POST", "/schedules", nightly, &change); !change.Waits || change.Set != "shop7" {
		t.Errorf("the change is %+v", change)
	}
	page, err := s.client.List(t.Context(), journal.ListFilter{Workflow: schedule.SetWorkflow})
	if err != nil || len(page.Runs) != 1 {
		t.Errorf("there are %d sets (%v)", len(page.Runs), err)
	}
}

// TestSchedulesOfSome: a schedule is a run, and for an actor who may not see that there is none; who
// may not start a workflow cannot let a schedule do it.
func TestSchedulesOfSome(t *testing.T) {
	t.Parallel()
	may := "schedule apply"
	s := newShop(t, openMemory, func(o *api.Options) {
		o.Allow = func(_ context.Context, actor, verb string, run *journal.Run) bool {
			switch {
			case actor == "eva" || run == nil:
				return true
			case verb == "schedule apply" || verb == "run start":
				return strings.HasPrefix(may, verb) && (run.Labels[schedule.LabelSet] == "shop7" || run.Workflow == "parcel")
			}
			return run.Labels[schedule.LabelSet] == "shop7"
		}
	})
	hidden := strings.Replace(nightly, "shop7", "shop8", 1)
	s.applied(nightly, "shop7%2Fnightly")
	s.applied(hidden, "shop8%2Fnightly")
	var list []record.Schedule
	got := s.ask("ada", "GET", "/schedules", "")
	if err := json.Unmarshal([]byte(got.body), &list); err != nil || len(list) != 1 || list[0].ID != "shop7/nightly" {
		t.Errorf("ada is shown %s", got.body)
	}
	bodies := validBodies()
	for path, methods := range at(described(), "paths").(object) {
		for method := range methods.(object) {
			if !strings.Contains(path, "{schedule}") {
				continue
			}
			method = strings.ToUpper(method)
			of := func(set string) answer {
				got := s.ask("ada", method, strings.ReplaceAll(path, "{schedule}", set+"%2Fnightly"), bodies[method+" "+path])
				got.body = strings.ReplaceAll(got.body, set, "SET")
				return got
			}
			if one, other := of("shop8"), of("shop9"); one.status != http.StatusNotFound || one.body != other.body {
				t.Errorf("%s %s of a schedule that is hidden is %d %s, of one that does not exist %d %s", method, path, one.status, one.body, other.status, other.body)
			}
		}
	}
	s.refused("ada", "POST", "/schedules", hidden, "forbidden", "schedule apply")
	s.refused("ada", "POST", "/schedules", nightly, "forbidden", "run start")
	s.refused("ada", "POST", "/schedules?dry_run", hidden, "forbidden", "schedule apply")
}

// TestSchedulesRedacted: what a schedule says of itself is a published value of its run, and its
// headers are those of inputs.
func TestSchedulesRedacted(t *testing.T) {
	t.Parallel()
	show := true
	s := newShop(t, openMemory, func(o *api.Options) {
		o.HideInputs = true
		o.Redact = func(_ context.Context, _ string, from record.Source, p *record.Payload) *record.Payload {
			if from.Kind == record.FromPublished && from.Name == schedule.Published {
				if !show {
					return nil
				}
				p.Value = json.RawMessage(strings.ReplaceAll(string(p.Value), "Berlin", "Lisbon"))
			}
			return p
		}
	})
	shown := s.applied(nightly, "shop7%2Fnightly")
	if text := string(shown.Definition); strings.Contains(text, "SECRET") || !strings.Contains(text, "Europe/Lisbon") {
		t.Errorf("the schedule shows %s", text)
	}
	show = false
	for _, path := range []string{"/schedules", "/schedules/shop7%2Fnightly"} {
		if text := s.must(http.StatusOK, "GET", path, "", nil); strings.Contains(text, "parcel") || strings.Contains(text, "Europe") || !strings.Contains(text, `"state":"hidden"`) {
			t.Errorf("%s shows %s", path, text)
		}
	}
	s.refused("eva", "GET", "/schedules/shop7%2Fnightly/preview", "", "refused-by-state", "does not show")
}
