package schedule

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime/schedule/calendar"
)

// DefaultSet is the set of schedules that name none.
const DefaultSet = "default"

// Schedule says what is started when. It is data: see [Apply], and docs/schedules.md for its form
// in YAML.
type Schedule struct {
	// Name is the schedule's in its set: letters, digits and the signs - _ . of at most 100 bytes.
	Name string `json:"name"`
	// Spec says when.
	calendar.Spec
	// Start says what.
	Start Start `json:"start"`
	// Overlap says what happens if a slot comes while the run before is open; default [Skip].
	Overlap Overlap `json:"overlap,omitempty"`
	// Buffer is how many slots [BufferAll] keeps; default 100, at most 1,000.
	Buffer int `json:"buffer,omitempty"`
	// CatchUp says what happens to slots that nobody could start in time, because no node was
	// there.
	CatchUp CatchUp `json:"catch_up,omitzero"`
	// PauseAfter pauses the schedule when so many runs in a row have failed; 0 for never. A run
	// that was cancelled or terminated counts as neither failure nor success.
	PauseAfter int `json:"pause_after,omitempty"`
	// Note is for people.
	Note string `json:"note,omitempty"`
}

// Start is what a schedule starts: the fields of runtime.StartOptions. The run also has the labels
// [LabelSchedule] and [LabelSlot], and a key that is made of schedule and slot.
type Start struct {
	Workflow  string            `json:"workflow"`
	Input     json.RawMessage   `json:"input,omitempty"` // as JSON; null if it is empty
	Version   int32             `json:"version,omitempty"`
	Queue     string            `json:"queue,omitempty"`
	Priority  int16             `json:"priority,omitempty"`
	Labels    map[string]string `json:"labels,omitempty"`
	Headers   map[string]string `json:"headers,omitempty"`
	Timeout   calendar.Duration `json:"timeout,omitempty"`
	OnFailure string            `json:"on_failure,omitempty"`
	// Limits are what the run holds until it closes, see runtime.StartOptions.Limits.
	Limits []workflow.StepLimit `json:"limits,omitempty"`
}

// Labels of the runs that schedules start.
const (
	LabelSchedule = "schedule" // the id of the schedule: its name, behind that of its set and a slash if that is another than [DefaultSet]
	LabelSlot     = "slot"     // the slot, as in time.RFC3339 and in UTC; of a run that was triggered, when that was
)

// Labels of the runs that are schedules.
const (
	LabelName = "schedule_name" // the id of the schedule
	LabelSet  = "schedule_set"  // the name of its set; the run of a set has it too
)

// StartOf makes a Start of a workflow's name and its input. It panics if the input has no JSON.
func StartOf[In, Out any](name workflow.Name[In, Out], in In) Start {
	input, err := json.Marshal(in)
	if err != nil {
		panic(fmt.Errorf("schedule: the input of workflow %q: %w", string(name), err))
	}
	return Start{Workflow: string(name), Input: input}
}

// Overlap says what happens if a slot comes while a run of the schedule is open.
type Overlap string

// The policies for overlaps.
const (
	Skip           Overlap = "skip"            // the slot is left out; the default
	BufferOne      Overlap = "buffer-one"      // the first slot starts when the run has ended, further ones are left out
	BufferAll      Overlap = "buffer-all"      // all start, one behind the other, as many as Buffer says
	CancelOther    Overlap = "cancel-other"    // the open run gets a cancel request, and the slot starts when that run has ended
	TerminateOther Overlap = "terminate-other" // the open run is terminated
	Allow          Overlap = "allow"           // the slot starts at once
)

// known tells whether the policy is one of those above.
func (o Overlap) known() bool {
	switch o {
	case Skip, BufferOne, BufferAll, CancelOther, TerminateOther, Allow:
		return true
	}
	return false
}

// waits tells whether slots wait, or are left out, until the open run has ended. Nothing happens
// until then, so the schedule need not look at the time either.
func (o Overlap) waits() bool { return o == Skip || o == BufferOne || o == BufferAll }

// CatchUp says which slots start late. The zero value means the defaults.
type CatchUp struct {
	Window calendar.Duration `json:"window,omitempty"` // those that are late by no more than this; default an hour
	Limit  int               `json:"limit,omitempty"`  // and no more of them than the newest so many; default and at most 1,000, 1 for the latest only
}

// Set is a number of schedules that are applied together.
type Set struct {
	Name      string     `json:"set,omitempty"` // default [DefaultSet]
	Schedules []Schedule `json:"schedules"`
}

// idOf is the id of a schedule.
func idOf(set, name string) string {
	if set == "" || set == DefaultSet {
		return name
	}
	return set + "/" + name
}

// Split returns the set and the name of an id.
func Split(id string) (set, name string) {
	if set, name, found := strings.Cut(id, "/"); found {
		return set, name
	}
	return DefaultSet, id
}

// slotText is a slot in a label or a key.
func slotText(slot time.Time) string { return slot.UTC().Format(time.RFC3339) }

// SlotOf returns the slot for which a schedule has started a run. Of a run that was triggered it is
// when that was. It is false for a run that no schedule has started.
func SlotOf(info workflow.Info) (time.Time, bool) {
	slot, err := time.Parse(time.RFC3339, info.Labels[LabelSlot])
	return slot, err == nil && info.Labels[LabelSchedule] != ""
}

// KeyOf is the key of the run of a slot, by which runtime.Client.FindKey finds it.
func KeyOf(id string, slot time.Time) string { return "schedule:" + id + "@" + slotText(slot) }

// keyOfTrigger is the key of a run that was triggered.
func keyOfTrigger(id, key string) string { return "schedule:" + id + "!" + key }

// sameSpec tells whether two schedules have the same slots.
func sameSpec(a, b *Schedule) bool {
	x, _ := json.Marshal(a.Spec)
	y, _ := json.Marshal(b.Spec)
	return bytes.Equal(x, y)
}

// digestOf tells two definitions apart.
func digestOf(s *Schedule) string {
	text, _ := json.Marshal(s) // Check has done so
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:12])
}
