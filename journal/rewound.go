package journal

import (
	"slices"
	"time"
)

// Rewound says how a generation began that an operator has made of an earlier one: with the first
// events of that, copied as they are. What the earlier generation has behind them is a branch: it
// stays readable, and the run does not go on from it (J13).
//
// Code must see the same in the copy as in the original, so what depends on a generation's number
// is that of the generation which issued it: random numbers, ids of children, keys of signals. The
// answers of children that were started before the point name that generation too. So it is with
// the run, if that is a fork.
type Rewound struct {
	Run  RunID      `json:"run,omitzero"`  // whose generation From is, if that is another run: this one is a fork of it
	From Generation `json:"from"`          // the generation of which it has the events
	Seq  Seq        `json:"seq,omitempty"` // how many of them; 0 if it began anew
	// Edited are those of the events that have another result than the run had from which they were
	// copied, ascending.
	Edited []Seq `json:"edited,omitempty"`

	// The rest is for replay, and zero if no event was kept.

	Origin Generation `json:"origin,omitempty"` // in which the first event was written
	Seen   InboxSeq   `json:"seen,omitempty"`   // where the inbox of Origin begins, see Continue.Seen
	// Steps is the generation under whose number steps run that were issued before it: a reset
	// gives steps that run again new idempotency keys, and a retry leaves them theirs.
	Steps  Generation `json:"steps,omitempty"`
	Issued []IssuedIn `json:"issued,omitempty"` // ascending; commands that are in none are the generation's own
	Forks  []Forked   `json:"forks,omitempty"`  // ascending; events that are in none are the run's own
}

// IssuedIn says that a generation has issued the commands up to one, and written the events up to
// one, behind those of the entry before.
type IssuedIn struct {
	Run        RunID      `json:"run,omitzero"` // whose generation it is, if that is another run
	Generation Generation `json:"generation"`
	Through    Cmd        `json:"through"`
	Seq        Seq        `json:"seq"`
}

// Forked is what code has seen of the run that it was, while it reacted to the events up to one,
// behind those of the entry before. From the next event on it sees what the fork is.
type Forked struct {
	Run     RunID     `json:"run"`
	Key     string    `json:"key,omitempty"`
	Version int32     `json:"version"`
	Queue   string    `json:"queue"`
	StartAt time.Time `json:"startAt"`
	Parent  *Parent   `json:"parent,omitempty"`
	Through Seq       `json:"through"`
}

// Issuer returns the generation that has issued a command of the generation own. r may be nil.
func (r *Rewound) Issuer(own Generation, cmd Cmd) Generation {
	if r != nil {
		for _, in := range r.Issued {
			if cmd <= in.Through {
				return in.Generation
			}
		}
	}
	return own
}

// IssuerRun returns the run that has issued a command of the run own. r may be nil.
func (r *Rewound) IssuerRun(own RunID, cmd Cmd) RunID {
	if r != nil {
		for _, in := range r.Issued {
			if cmd <= in.Through && !in.Run.IsZero() {
				return in.Run
			} else if cmd <= in.Through {
				break
			}
		}
	}
	return own
}

// Writer returns the run and the generation that have written an event of the generation own of the
// run. What code draws in reaction to an event is theirs: behind the kept events nothing is drawn
// that a branch, or the run of which this is a fork, draws too. r may be nil.
func (r *Rewound) Writer(run RunID, own Generation, seq Seq) (RunID, Generation) {
	if r != nil {
		for _, in := range r.Issued {
			if seq <= in.Seq && !in.Run.IsZero() {
				return in.Run, in.Generation
			} else if seq <= in.Seq {
				return run, in.Generation
			}
		}
	}
	return run, own
}

// FirstRun returns the run that was the first to begin as own does. r may be nil.
func (r *Rewound) FirstRun(own RunID) RunID {
	if r == nil || len(r.Forks) == 0 {
		return own
	}
	return r.Forks[0].Run
}

// ForkAt returns what code sees of its run while it reacts to an event; nil for the run itself. r
// may be nil.
func (r *Rewound) ForkAt(seq Seq) *Forked {
	if r != nil {
		for i := range r.Forks {
			if seq <= r.Forks[i].Through {
				return &r.Forks[i]
			}
		}
	}
	return nil
}

// Performer returns the generation whose number is in the idempotency key of a step. r may be nil.
func (r *Rewound) Performer(own Generation, cmd Cmd) Generation {
	if r == nil {
		return own
	}
	return max(r.Issuer(own, cmd), r.Steps)
}

// After returns how the next generation begins if it keeps seq events of the generation own, which
// have issued cmds commands and began behind the message seen. again says that steps which run
// again are others than before. r, which may be nil, is how own began.
func (r *Rewound) After(own Generation, seq Seq, cmds Cmd, seen InboxSeq, again bool) *Rewound {
	next := &Rewound{From: own, Seq: seq}
	if seq == 0 {
		return next
	}
	next.Origin, next.Seen = own, seen
	if r != nil && r.Origin != 0 {
		next.Origin, next.Seen, next.Steps = r.Origin, r.Seen, r.Steps
		for _, in := range r.Issued {
			if n := len(next.Issued); n == 0 || next.Issued[n-1].Seq < seq {
				next.Issued = append(next.Issued, IssuedIn{in.Run, in.Generation, min(in.Through, cmds), min(in.Seq, seq)})
			}
		}
		for _, f := range r.Forks {
			if n := len(next.Forks); n == 0 || next.Forks[n-1].Through < seq {
				f.Through = min(f.Through, seq)
				next.Forks = append(next.Forks, f)
			}
		}
		for _, edited := range r.Edited {
			if edited <= seq {
				next.Edited = append(next.Edited, edited)
			}
		}
	}
	if n := len(next.Issued); n == 0 || next.Issued[n-1].Seq < seq {
		next.Issued = append(next.Issued, IssuedIn{Generation: own, Through: cmds, Seq: seq})
	}
	if again {
		next.Steps = own + 1
	}
	return next
}

// ForkOf makes of r, which says how the next generation of a run begins, how a fork of the run
// does.
func (r *Rewound) ForkOf(run *Run) {
	r.Run = run.ID
	for i := range r.Issued {
		if r.Issued[i].Run.IsZero() {
			r.Issued[i].Run = run.ID
		}
	}
	if n := len(r.Forks); n > 0 && r.Forks[n-1].Through >= r.Seq || r.Seq == 0 {
		return
	}
	r.Forks = append(r.Forks, Forked{
		Run: run.ID, Key: run.Key, Version: run.Version, Queue: run.Queue, StartAt: run.StartAt, Parent: run.Parent, Through: r.Seq,
	})
}

// Clone returns a copy that shares nothing. r may be nil.
func (r *Rewound) Clone() *Rewound {
	if r == nil {
		return nil
	}
	c := *r
	c.Issued, c.Forks, c.Edited = slices.Clone(r.Issued), slices.Clone(r.Forks), slices.Clone(r.Edited)
	for i := range c.Forks {
		if p := c.Forks[i].Parent; p != nil {
			c.Forks[i].Parent = new(*p)
		}
	}
	return &c
}
