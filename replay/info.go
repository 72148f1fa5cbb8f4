package replay

import "github.com/reprise-run/reprise/journal"

// Info is the identity of the run that a machine replays.
type Info struct {
	Run        journal.RunID
	Key        string
	Workflow   string
	Version    int32
	Queue      string
	Labels     map[string]string
	Generation journal.Generation
	Input      journal.Payload
	Parent     *journal.Parent  // nil if no run waits for this one
	InboxSeen  journal.InboxSeq // newest message that the generation before had consumed
}

// InfoOf returns the identity of a run's present generation.
func InfoOf(run *journal.Run) Info {
	i := Info{
		Run: run.ID, Key: run.Key, Workflow: run.Workflow, Version: run.Version, Queue: run.Queue, Labels: run.Labels,
		Generation: run.Generation, Input: run.Input, Parent: run.Parent,
	}
	if run.Continued != nil {
		i.InboxSeen = run.Continued.Seen
	}
	return i
}

// Encoder turns values into payloads within the limits, and back; *journal.Journal is one.
type Encoder interface {
	Encode(what string, v any) (journal.Payload, error)
	Codec() journal.Codec
}
