package journal

import "slices"

// Rewound says how a generation began that an operator has made of an earlier one: with the first
// events of that, copied as they are. What the earlier generation has behind them is a branch: it
// stays readable, and the run does not go on from it (J13).
//
// Code must see the same in the copy as in the original, so what depends on a generation's number
// is that of the generation which issued it: random numbers, ids of children, keys of signals. The
// answers of children that were started before the point name that generation too.
type Rewound struct {
	From Generation `json:"from"`          // the generation of which it has the events
	Seq  Seq        `json:"seq,omitempty"` // how many of them; 0 if it began anew

	// The rest is for replay, and zero if no event was kept.

	Origin Generation `json:"origin,omitempty"` // in which the first event was written
	Seen   InboxSeq   `json:"seen,omitempty"`   // where the inbox of Origin begins, see Continue.Seen
	// Steps is the generation under whose number steps run that were issued before it: a reset
	// gives steps that run again new idempotency keys, and a retry leaves them theirs.
	Steps  Generation `json:"steps,omitempty"`
	Issued []IssuedIn `json:"issued,omitempty"` // ascending; commands that are in none are the generation's own
}

// IssuedIn says that a generation has issued the commands up to one, behind those of the entry
// before.
type IssuedIn struct {
	Generation Generation `json:"generation"`
	Through    Cmd        `json:"through"`
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

// Performer returns the generation whose number is in the idempotency key of a step. r may be nil.
func (r *Rewound) Performer(own Generation, cmd Cmd) Generation {
	if r == nil {
		return own
	}
	return max(r.Issuer(own, cmd), r.Steps)
}

// First returns the generation that was the first to begin as own does. r may be nil.
func (r *Rewound) First(own Generation) Generation {
	if r == nil || r.Origin == 0 {
		return own
	}
	return r.Origin
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
			if len(next.Issued) == 0 || next.Issued[len(next.Issued)-1].Through < cmds {
				next.Issued = append(next.Issued, IssuedIn{in.Generation, min(in.Through, cmds)})
			}
		}
	}
	if n := len(next.Issued); n == 0 || next.Issued[n-1].Through < cmds {
		next.Issued = append(next.Issued, IssuedIn{own, cmds})
	}
	if again {
		next.Steps = own + 1
	}
	return next
}

// Clone returns a copy that shares nothing. r may be nil.
func (r *Rewound) Clone() *Rewound {
	if r == nil {
		return nil
	}
	c := *r
	c.Issued = slices.Clone(r.Issued)
	return &c
}
