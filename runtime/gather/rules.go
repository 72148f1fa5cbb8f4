package gather

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
)

// Rules say when the inputs of a key become a run, and what run. They come with each input, those
// of the newest one hold: a change needs no more than new senders. The zero value of each field
// means its default.
type Rules struct {
	// Size starts a batch as soon as it has so many inputs; default 100, at most 10,000. A
	// [Debounce] counts inputs that it drops, and has no default; a [Latest] has no Size.
	Size int `json:"size,omitempty"`
	// Bytes bounds the inputs of a batch together, as JSON; default and at most 1 MiB. An input
	// that would exceed it begins the next batch, and starts the one before. One that is larger by
	// itself is refused.
	Bytes int `json:"bytes,omitempty"`
	// Wait starts a batch so long after its first input; default ten times Quiet.
	Wait time.Duration `json:"wait,omitempty"`
	// Quiet starts a batch as soon as no input has come for so long; default none.
	Quiet time.Duration `json:"quiet,omitempty"`

	// What follows is for the runs of batches: see runtime.StartOptions. They also have the labels
	// [LabelName] and [LabelKey].

	Queue     string            `json:"queue,omitempty"`
	Version   int32             `json:"version,omitempty"`
	Priority  int16             `json:"priority,omitempty"`
	Labels    map[string]string `json:"labels,omitempty"`
	Timeout   time.Duration     `json:"timeout,omitempty"`
	OnFailure string            `json:"on_failure,omitempty"`
	// Limits are what the run of a batch holds until it closes. It waits for them however many do,
	// beyond journal.Limit.MaxBacklog: its inputs are taken.
	Limits []workflow.StepLimit `json:"limits,omitempty"`
}

// Labels of the runs that are collectors, and of those that they start.
const (
	LabelName = "gather"     // the name of the collector
	LabelKey  = "gather_key" // the key in it; runs without one have no such label
)

// mode says what becomes of the inputs of a batch.
type mode string

const (
	all    mode = ""         // the run gets all of them, as an array
	last   mode = "debounce" // it gets the last one
	latest mode = "latest"   // likewise, and begins when the run before has ended
)

// plan is all that a collector's run has to know about a batch.
type plan struct {
	Rules
	Workflow string `json:"workflow"`
	Mode     mode   `json:"mode,omitempty"`
}

// withDefaults returns a copy that shares nothing.
func (p plan) withDefaults() plan {
	p.Labels, p.Limits = maps.Clone(p.Labels), slices.Clone(p.Limits)
	if p.Bytes == 0 {
		p.Bytes = bytesMax
	}
	if p.Size == 0 && p.Mode == all {
		p.Size = sizeDefault
	}
	if p.Wait == 0 && p.Quiet > 0 {
		p.Wait = min(quietsPerWait*p.Quiet, journal.DelayMax)
	}
	return p
}

// check refuses what no batch can be started with. The plan has its defaults.
func (p *plan) check(name string) error {
	var wrong []string
	add := func(bad bool, format string, args ...any) {
		if bad {
			wrong = append(wrong, fmt.Sprintf(format, args...))
		}
	}
	add(!validName(name), "the name must have from 1 to %d letters, digits and the signs - _ .", nameBytesMax)
	add(p.Size < 0 || p.Size > sizeMax, "Size is %d, it must be from 1 to %d", p.Size, sizeMax)
	add(p.Bytes < 1 || p.Bytes > bytesMax, "Bytes is %d, it must be from 1 to %d", p.Bytes, bytesMax)
	add(p.Wait < 0 || p.Wait > journal.DelayMax, "Wait is %s, it must be from 0 to %s", p.Wait, journal.DelayMax)
	add(p.Quiet < 0 || p.Quiet > journal.DelayMax, "Quiet is %s, it must be from 0 to %s", p.Quiet, journal.DelayMax)
	switch p.Mode {
	case all:
		add(p.Wait == 0 && p.Quiet == 0, "Wait or Quiet must be set: what does not fill a batch would wait for ever")
	case last:
		add(p.Quiet == 0, "Quiet must be set")
	case latest:
		add(p.Size != 0 || p.Wait != 0 || p.Quiet != 0, "Size, Wait and Quiet must not be set: an input waits for the end of the run before")
	default:
		add(true, "it is of a newer release, and does with inputs what this one does not know: %q", string(p.Mode))
	}
	st := p.start(name, "key", "")
	if err := journal.CheckStart(&st); err != nil {
		add(true, "%v", err)
	}
	for _, label := range []string{LabelName, LabelKey} {
		_, taken := p.Labels[label]
		add(taken, "the label %q is the collector's", label)
	}
	for _, name := range []string{p.Workflow, p.OnFailure} {
		add(strings.HasPrefix(name, "reprise."), "workflow %q is of the runtime's own", name)
	}
	if len(wrong) == 0 {
		return nil
	}
	return fmt.Errorf("collector %q: %s: %w", name, strings.Join(wrong, "; "), journal.ErrInvalid)
}

// start is the run of a batch, without its input.
func (p *plan) start(name, key, runKey string) journal.Start {
	st := journal.Start{
		ID: journal.RunID{1}, Key: runKey, Workflow: p.Workflow, Version: p.Version, Queue: p.Queue, Priority: p.Priority,
		Labels: labelsOf(name, key, p.Labels), Timeout: p.Timeout, OnFailure: p.OnFailure, Limits: p.Limits,
	}
	st.SetDefaults()
	return st
}

// labelsOf are the labels of a collector's run, or, with more of its own, of a batch.
func labelsOf(name, key string, more map[string]string) map[string]string {
	labels := map[string]string{LabelName: name}
	maps.Copy(labels, more)
	if key != "" {
		labels[LabelKey] = key
	}
	return labels
}

// validName tells whether a collector may have the name. It has no colon, which divides keys.
func validName(name string) bool {
	odd := strings.IndexFunc(name, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("-_.", c)
	})
	return name != "" && len(name) <= nameBytesMax && odd < 0
}
