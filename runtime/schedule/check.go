package schedule

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime/schedule/calendar"
)

// problems are what is wrong with what a caller gives, all of it.
type problems struct{ list []string }

// add adds a problem if it is one.
func (p *problems) add(wrong bool, format string, args ...any) {
	if wrong {
		p.list = append(p.list, fmt.Sprintf(format, args...))
	}
}

func (p *problems) err(err error) { p.add(err != nil, "%v", err) }

// error is an error that matches journal.ErrInvalid, nil if nothing is wrong.
func (p *problems) error(what string) error {
	if len(p.list) == 0 {
		return nil
	}
	return fmt.Errorf("%s: %s: %w", what, strings.Join(p.list, "; "), journal.ErrInvalid)
}

// Check refuses a set that cannot be applied. The error names every problem of every schedule, and
// matches journal.ErrInvalid.
func (s *Set) Check() error { return s.check((*Schedule).problems) }

// check refuses a set by the problems of its schedules.
func (s *Set) check(problemsOf func(*Schedule) *problems) error {
	var p problems
	p.err(checkName("set", s.setName()))
	p.add(len(s.Schedules) > setMax, "it has %d schedules, at most %d are allowed: divide it", len(s.Schedules), setMax)
	seen := map[string]bool{}
	for i := range s.Schedules {
		c := &s.Schedules[i]
		p.add(seen[c.Name], "schedule %q is there twice", c.Name)
		seen[c.Name] = true
		for _, wrong := range problemsOf(c).list {
			p.add(true, "schedule %q: %s", c.Name, wrong)
		}
	}
	return p.error(fmt.Sprintf("set %q of schedules", s.setName()))
}

func (s *Set) setName() string {
	if s.Name == "" {
		return DefaultSet
	}
	return s.Name
}

// Check is [Set.Check] for one schedule.
func (s *Schedule) Check() error { return s.problems().error(fmt.Sprintf("schedule %q", s.Name)) }

// problems are all that a caller may get wrong.
func (s *Schedule) problems() *problems {
	p := s.lasting()
	times, err := calendar.Compile(s.Spec)
	if err == nil {
		_, some := times.Next(time.Now())
		p.add(!some && (s.Until.IsZero() || s.Until.After(time.Now())), "it has no time that is still to come")
	} else if _, zone := calendar.LoadZone(s.Zone); zone != nil && !madeUp(s.Zone) {
		p.add(true, "zone: %v", zone)
	}
	return p
}

// lasting are the problems that a schedule has on every machine and at every moment. Runs look for
// these: what Apply has stored may have waited for long, and the node may lack data of the zone.
func (s *Schedule) lasting() *problems {
	p := &problems{}
	p.err(checkName("name", s.Name))
	spec := s.Spec
	spec.Zone = ""
	_, err := calendar.Compile(spec)
	p.err(err)
	if madeUp(s.Zone) {
		_, err := calendar.LoadZone(s.Zone)
		p.add(true, "zone: %v", err)
	}
	s.checkStart(p)
	o := s.withDefaults()
	p.add(!o.Overlap.known(), "overlap: %q must be skip, buffer-one, buffer-all, cancel-other, terminate-other or allow", s.Overlap)
	p.add(o.Buffer < 1 || o.Buffer > bufferMax, "buffer: %d must be from 1 to %d", s.Buffer, bufferMax)
	p.add(s.Buffer != 0 && o.Overlap != BufferAll, "buffer: it belongs to the overlap buffer-all, and not to %s", o.Overlap)
	window := time.Duration(o.CatchUp.Window)
	p.add(window < time.Second || window > catchUpMax, "catch_up.window: %s must be from 1s to %s", window, catchUpMax)
	p.add(o.CatchUp.Limit < 1 || o.CatchUp.Limit > catchUpMaxRuns, "catch_up.limit: %d must be from 1 to %d", s.CatchUp.Limit, catchUpMaxRuns)
	p.add(s.PauseAfter < 0, "pause_after: %d must be a number of runs, or 0 for never", s.PauseAfter)
	p.add(len(s.Note) > textBytesMax, "note: it has %d bytes, at most %d are allowed", len(s.Note), textBytesMax)
	text, err := json.Marshal(s.shown())
	p.err(err)
	p.add(len(text) > definitionBytesMax, "it has %d bytes without its input, at most %d are allowed", len(text), definitionBytesMax)
	return p
}

// madeUp tells whether neither this machine nor the database that Go came with has a zone. One that
// the database has may be missing on this machine alone.
func madeUp(zone string) bool {
	_, err := calendar.LoadZone(zone)
	return err != nil && !slices.Contains(calendar.Zones(), zone)
}

// bytes is the size of the schedule with its input, which is refused if it is too large for one
// message.
func (s *Schedule) bytes() (int, *problems) {
	p := &problems{}
	text, err := json.Marshal(s)
	p.err(err)
	p.add(len(text) > changeBytesMax, "schedule %q has %d bytes, at most %d are allowed: keep large inputs elsewhere", s.Name, len(text), changeBytesMax)
	return len(text), p
}

// checkStart refuses what no run can be started with.
func (s *Schedule) checkStart(p *problems) {
	st := journal.Start{
		ID: journal.RunID{1}, Workflow: s.Start.Workflow, Version: s.Start.Version, Queue: s.Start.Queue, Priority: s.Start.Priority,
		Labels: s.labels(LabelSchedule, time.Time{}), Headers: s.Start.Headers, Timeout: time.Duration(s.Start.Timeout), OnFailure: s.Start.OnFailure,
		Limits: s.Start.Limits,
	}
	st.SetDefaults()
	if err := journal.CheckStart(&st); err != nil {
		p.add(true, "start: %v", err)
	}
	for _, label := range []string{LabelSchedule, LabelSlot} {
		_, taken := s.Start.Labels[label]
		p.add(taken, "start: the label %q is the schedule's", label)
	}
	for _, name := range []string{s.Start.Workflow, s.Start.OnFailure} {
		p.add(strings.HasPrefix(name, "reprise."), "start: workflow %q is of the runtime's own", name)
	}
	p.add(len(s.Start.Input) > 0 && !json.Valid(s.Start.Input), "start: the input is no JSON")
}

// labels are those of a run that the schedule starts.
func (s *Schedule) labels(id string, slot time.Time) map[string]string {
	labels := map[string]string{}
	for name, value := range s.Start.Labels {
		labels[name] = value
	}
	labels[LabelSchedule], labels[LabelSlot] = id, slotText(slot)
	return labels
}

// checkName refuses what is no name of a set or a schedule.
func checkName(what, name string) error {
	if name == "" || len(name) > nameBytesMax {
		return fmt.Errorf("the %s %q must have from 1 to %d bytes", what, name, nameBytesMax)
	}
	for _, c := range name {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.') {
			return fmt.Errorf("the %s %q may have letters, digits and the signs - _ . only", what, name)
		}
	}
	return nil
}

// checkID refuses what is no id of a schedule.
func checkID(id string) error {
	set, name := Split(id)
	var p problems
	p.err(checkName("set", set))
	p.err(checkName("name", name))
	return p.error(fmt.Sprintf("schedule %q", id))
}

// withDefaults returns a copy.
func (s *Schedule) withDefaults() Schedule {
	c := *s
	if c.Overlap == "" {
		c.Overlap = Skip
	}
	if c.Buffer == 0 {
		c.Buffer = bufferDefault
	}
	if c.CatchUp.Window == 0 {
		c.CatchUp.Window = calendar.Duration(CatchUpDefault)
	}
	if c.CatchUp.Limit == 0 {
		c.CatchUp.Limit = catchUpMaxRuns
	}
	return c
}

// shown is the schedule without the input of its runs, which may be large and secret.
func (s *Schedule) shown() Schedule {
	c := *s
	c.Start.Input = nil
	return c
}
