package bulk

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/filter"
	"github.com/reprise-run/reprise/runtime"
)

// Workflow is the name of the workflow that jobs are runs of.
const Workflow = own + "bulk"

// own begins the names of the runtime's own workflows.
const own = "reprise."

// Job says what to do to which runs.
type Job struct {
	Verb Verb `json:"verb"`
	// Where selects the runs, in the language of journal.ListFilter.Where; it has no order. Empty
	// is refused, unless All is set.
	Where string `json:"where,omitempty"`
	// All selects all runs that the verb can be for; Where is empty then.
	All bool `json:"all,omitempty"`
	// FailuresOf is another job, which has ended: this one acts on the runs to which that one could
	// not do what it should, if the verb can be for them now. Where is empty then, and All not set.
	FailuresOf journal.RunID `json:"failures_of,omitzero"`
	// Reason is for the audit and for the runs' histories, which name the job beside it.
	Reason string `json:"reason,omitempty"`
	// FreezeTimers is runtime.PauseOptions.FreezeTimers of the verb [Pause].
	FreezeTimers bool `json:"freeze_timers,omitempty"`
	// CancelSteps is runtime.PauseOptions.CancelSteps of the verb [Pause].
	CancelSteps bool `json:"cancel_steps,omitempty"`
	// Again is runtime.RetryOptions.Again of the verb [Retry].
	Again bool `json:"again,omitempty"`
	// Signal is the name of the signal that the verb [Signal] sends, and Payload what it carries,
	// as JSON; null if it is empty. Step is the name of the step that the verb [Edit] gives the
	// result Payload, as runtime.StepResult.Name.
	Signal  string          `json:"signal,omitempty"`
	Payload json.RawMessage `json:"payload,omitempty"`
	Step    string          `json:"step,omitempty"`
	// Message is the name of the signal or update that the verb [Skip] leaves out, as
	// runtime.SkipMessageNamed has it.
	Message string `json:"message,omitempty"`
	// Labels are what the verb [SetLabels] sets, and RemoveLabels the names of those that it
	// removes.
	Labels       map[string]string `json:"labels,omitempty"`
	RemoveLabels []string          `json:"remove_labels,omitempty"`
	// Priority is what the verb [SetPriority] gives the runs, from 1 to 5.
	Priority int16 `json:"priority,omitempty"`
	// To is the point to which the verb [Reset] goes back, and at which the verb [Fork] begins. The
	// node that executes the job proves with its code that what these verbs, [Edit] and [Skip] keep
	// fits, unless Unproven is set. NoMessages, Messages and KeepChildren are as in
	// runtime.ResetOptions, the first two also for Fork, the last one also for Edit and Skip.
	To           runtime.Point `json:"to,omitempty"`
	Unproven     bool          `json:"unproven,omitempty"`
	NoMessages   bool          `json:"no_messages,omitempty"`
	Messages     []string      `json:"messages,omitempty"`
	KeepChildren bool          `json:"keep_children,omitempty"`
	// Input, as JSON, replaces that of the runs, if they begin anew: To is runtime.RunStart or
	// GenerationStart. Version and Queue are those of the forks; 0 and empty leave those of the
	// runs. A reset may have a Version too, if the runs begin anew.
	Input   json.RawMessage `json:"input,omitempty"`
	Version int32           `json:"version,omitempty"`
	Queue   string          `json:"queue,omitempty"`
	// Results, as JSON, are other results of steps in the forks, by the names of the steps, as
	// runtime.ForkOptions.StepResults.
	Results map[string]json.RawMessage `json:"results,omitempty"`
	// Rate is how many runs are acted on in a second, at most; 0 for as many as it can.
	Rate float64 `json:"rate,omitempty"`
	// Concurrency is how many runs are acted on at once; default 32, at most 256.
	Concurrency int `json:"concurrency,omitempty"`
}

// check refuses a job that cannot be done, with a journal.ErrInvalid that says why.
func (j *Job) check() error {
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("bulk job: %s: %w", fmt.Sprintf(format, args...), journal.ErrInvalid)
	}
	switch {
	case !j.Verb.known():
		return refuse("verb %q is none of cancel, terminate, pause, resume, signal, set-labels, set-priority, retry, reset, fork, edit, skip and delete", j.Verb)
	case !j.FailuresOf.IsZero() && (j.Where != "" || j.All):
		return refuse("it has a filter, or All, and another job whose failures are meant: leave one of them out")
	case j.Where == "" && !j.All && j.FailuresOf.IsZero():
		return refuse("it has no filter: say with Where which runs are meant, set All for all of them, or name with FailuresOf the job whose failures are meant")
	case j.Where != "" && j.All:
		return refuse("it has a filter and All: leave one of them out")
	case !(j.Rate >= 0 && j.Rate <= rateMax) || math.Signbit(j.Rate):
		return refuse("rate %v: it must be between 0, for no limit, and %d runs a second", j.Rate, rateMax)
	case j.Concurrency < 0 || j.Concurrency > concurrencyMax:
		return refuse("concurrency %d: it must be between 1 and %d, or 0 for the default", j.Concurrency, concurrencyMax)
	case j.Verb != Pause && j.FreezeTimers:
		return refuse("timers are frozen by the verb pause, and not by %s", j.Verb)
	case j.Verb != Pause && j.CancelSteps:
		return refuse("running steps are cancelled by the verb pause, and not by %s", j.Verb)
	case j.Verb != Retry && j.Again:
		return refuse("steps that have completed since the failure are run again by the verb retry, and not by %s", j.Verb)
	case j.Verb != Signal && (j.Signal != "" || len(j.Payload) > 0 && j.Verb != Edit):
		return refuse("a signal belongs to the verb signal, and not to %s", j.Verb)
	case j.Verb != SetLabels && len(j.Labels)+len(j.RemoveLabels) > 0:
		return refuse("labels belong to the verb set-labels, and not to %s", j.Verb)
	case j.Verb != SetPriority && j.Priority != 0:
		return refuse("a priority belongs to the verb set-priority, and not to %s", j.Verb)
	case len(j.Payload) > 0 && !json.Valid(j.Payload):
		return refuse("the payload of signal or step %q is no JSON", j.Signal+j.Step)
	}
	if text := j.misplaced(); text != "" {
		return refuse("%s, and not to %s", text, j.Verb)
	}
	if err := j.checkVerb(); err != nil {
		return fmt.Errorf("bulk job: %w", err)
	}
	return j.checkWhere()
}

// checkVerb refuses what the verb could do to no run.
func (j *Job) checkVerb() error {
	switch j.Verb {
	case Signal:
		return journal.CheckName("signal", j.Signal)
	case SetPriority:
		return journal.CheckPriority(j.Priority)
	case Reset, Fork:
		return j.checkBack()
	case Edit:
		return journal.CheckName("step", j.Step)
	case Skip:
		return journal.CheckName("message", j.Message)
	case SetLabels:
		if len(j.Labels)+len(j.RemoveLabels) == 0 {
			return fmt.Errorf("set-labels names no label: %w", journal.ErrInvalid)
		}
		for _, name := range j.RemoveLabels {
			if _, both := j.Labels[name]; both {
				return fmt.Errorf("label %q is both set and removed: %w", name, journal.ErrInvalid)
			}
			if err := journal.CheckLabels(map[string]string{name: ""}); err != nil {
				return err
			}
		}
		return journal.CheckLabels(j.Labels)
	}
	return nil
}

// checkWhere refuses what is no filter by itself, so that an error names the place in the text that
// the caller wrote, and what is too much together with the conditions of the verb.
func (j *Job) checkWhere() error {
	f, err := filter.Parse(j.Where)
	if err == nil && f.Order != (filter.Order{}) {
		return fmt.Errorf("bulk job: a job goes through its runs newest first: leave \"order by\" out: %w", journal.ErrInvalid)
	}
	if err == nil && f.Where == nil && !j.All && j.FailuresOf.IsZero() {
		return fmt.Errorf("bulk job: the filter has no condition: set All if all runs are meant: %w", journal.ErrInvalid)
	}
	if err == nil {
		_, err = filter.Parse(j.filter().Where)
	}
	if err != nil {
		return fmt.Errorf("bulk job: %w", err)
	}
	return nil
}

// filter selects the runs that the job acts on, whenever they were started.
func (j *Job) filter() journal.ListFilter {
	where := fmt.Sprintf("not (workflow starts with %q)", own)
	switch j.Verb {
	case SetLabels, Reset, Fork, Edit, Skip:
	case Retry:
		where += ` and status in ("failed", "cancelled", "terminated")`
	case Delete:
		where += " and closed is set"
	default:
		where += " and status = open"
	}
	if j.Where != "" {
		where += " and (" + j.Where + ")"
	}
	return journal.ListFilter{Where: where}
}

// withDefaults returns a copy.
func (j Job) withDefaults() Job {
	if j.Concurrency == 0 {
		j.Concurrency = concurrencyDefault
	}
	return j
}
