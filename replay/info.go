package replay

import (
	"time"

	"github.com/reprise-run/reprise/journal"
)

// Info is the identity of the run that a machine replays. With the events it is all that the
// code's behaviour depends on, so it must be the same on every replay: ids, random numbers and
// keys of messages follow from it. Maps in it are not copied and must not be changed.
type Info struct {
	Run        journal.RunID
	Key        string
	Workflow   string
	Version    int32
	Queue      string
	Labels     map[string]string // of the start: what the run has set since is not read by its code
	Headers    map[string]string // what the start sent along for the code: a tenant, for example
	StartAt    time.Time         // when the run began, or was to begin; the same for all generations
	Deadline   time.Time         // when the time is up that the start gave the run; zero for never
	OnFailure  string            // the workflow that is started if the run fails; empty for none
	Generation journal.Generation
	Input      journal.Payload
	Parent     *journal.Parent  // nil if no run waits for this one
	InboxSeen  journal.InboxSeq // newest message that the generation before had consumed
	Rewound    *journal.Rewound // nil unless the generation begins with events of an earlier one, or of another run
}

// InfoOf returns the identity of a run's present generation.
func InfoOf(run *journal.Run) Info {
	i := Info{
		Run: run.ID, Key: run.Key, Workflow: run.Workflow, Version: run.Version, Queue: run.Queue, Labels: run.Labels,
		Headers: run.Headers, StartAt: run.StartAt, OnFailure: run.OnFailure,
		Generation: run.Generation, Input: run.Input, Parent: run.Parent,
		Rewound: run.Rewound,
	}
	if run.StartLabels != nil {
		i.Labels = run.StartLabels
	}
	if run.Timeout > 0 {
		i.Deadline = run.StartAt.Add(run.Timeout)
	}
	if run.Continued != nil {
		i.InboxSeen = run.Continued.Seen
	}
	return i
}

// OriginOf is the link that the generation's first event follows, see [journal.OriginOf]. Events
// that were copied from an earlier generation, or from another run, keep their links.
func OriginOf(i *Info) journal.Link {
	if r := i.Rewound; r != nil && r.Origin != 0 {
		return journal.OriginOf(r.FirstRun(i.Run), r.Origin, r.Seen, i.Input)
	}
	return journal.OriginOf(i.Run, i.Generation, i.InboxSeen, i.Input)
}

// Encoder turns values into payloads and back, and refuses what is larger than its limit;
// *journal.Journal is one. It is called by workflow code, so it must neither block nor depend on
// anything but the value.
type Encoder interface {
	Encode(what string, v any) (journal.Payload, error)
	Codec() journal.Codec
}
