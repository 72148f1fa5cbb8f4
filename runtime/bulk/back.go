package bulk

import (
	"encoding/json"
	"fmt"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
)

// misplaced tells to which verbs something belongs that the job says of another one.
func (j *Job) misplaced() string {
	back := j.Verb == Reset || j.Verb == Fork
	amends := j.Verb == Edit || j.Verb == Skip
	switch {
	case !back && j.To != "":
		return "a point belongs to the verbs reset and fork"
	case !back && (j.NoMessages || len(j.Messages) > 0):
		return "what becomes of messages belongs to the verbs reset and fork"
	case !back && !amends && j.Unproven:
		return "a proof belongs to the verbs reset, fork, edit and skip"
	case j.Verb != Reset && !amends && j.KeepChildren:
		return "what becomes of children belongs to the verbs reset, edit and skip"
	case !back && len(j.Input) > 0:
		return "an input belongs to the verbs reset and fork"
	case !back && j.Version != 0:
		return "a version belongs to the verbs reset and fork"
	case j.Verb != Fork && j.Queue != "":
		return "a queue belongs to the verb fork"
	case j.Verb != Fork && len(j.Results) > 0:
		return "other results of steps belong to the verb fork, and one of them to edit"
	case j.Verb != Edit && j.Step != "":
		return "a step belongs to the verb edit"
	case j.Verb != Skip && j.Message != "":
		return "a message belongs to the verb skip"
	}
	return ""
}

// checkBack refuses what the verbs that go back could do to no run.
func (j *Job) checkBack() error {
	if err := j.To.Check(); err != nil {
		return err
	}
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), journal.ErrInvalid)
	}
	anew := j.To == runtime.RunStart || j.To == runtime.GenerationStart
	switch {
	case len(j.Messages) > 0 && !j.NoMessages:
		return refuse("messages are named that come again, and so do all others: set NoMessages to leave these out")
	case j.Version < 0:
		return refuse("version %d", j.Version)
	case !anew && len(j.Input) > 0:
		return refuse("another input, with events that are kept at %s: choose the point start or generation", j.To)
	case !anew && j.Verb == Reset && j.Version != 0:
		return refuse("another version, with events that are kept at %s: choose the point start or generation, or fork the runs", j.To)
	case anew && len(j.Results) > 0:
		return refuse("other results of steps, and %s keeps no step: choose a later point", j.To)
	case j.To == runtime.LatestFit && j.Unproven:
		return refuse("the latest events that fit are found by the code: leave Unproven out, or choose another point")
	case len(j.Input) > 0 && !json.Valid(j.Input):
		return refuse("the input is no JSON")
	}
	for name, result := range j.Results {
		if err := journal.CheckName("step", name); err != nil {
			return err
		}
		if !json.Valid(result) {
			return refuse("the result of step %q is no JSON", name)
		}
	}
	return journal.CheckText("queue", j.Queue, journal.NameBytesMax)
}
