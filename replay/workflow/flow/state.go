package flow

import (
	"strings"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// State is a shape with what has become of its nodes in a run. It is plain data for whoever draws
// it.
type State struct {
	Shape *Shape      `json:"shape"`
	Hash  string      `json:"hash"` // of the shape
	Run   string      `json:"run"`  // open, completed, failed, cancelled, terminated or continued
	Nodes []NodeState `json:"nodes"`
	// Beside are the names of steps of the history that no node of the shape has: the run began
	// with another shape, or its nodes run code that has steps of its own.
	Beside []string `json:"beside,omitempty"`
}

// NodeState is a node in a run. Nodes are in the order of the shape's.
type NodeState struct {
	Name   string    `json:"name"`
	Status Status    `json:"status"`
	Reason Reason    `json:"reason,omitempty"` // of a node that was skipped
	Began  time.Time `json:"began,omitzero"`
	Ended  time.Time `json:"ended,omitzero"`
	Steps  int       `json:"steps,omitempty"` // steps that have completed: of a map its progress
	Error  string    `json:"error,omitempty"` // of the last step that failed
	Undone bool      `json:"undone,omitempty"`
}

// State finds out what has become of the shape's nodes in a run, from the history of its present
// generation alone. It needs no code of the flow.
func (s *Shape) State(events []journal.Event) *State {
	r := newReading(s)
	for i := range events {
		r.event(&events[i])
		if i == 0 {
			r.beginRoots(events[0].Time)
		}
		r.settle(events[i].Time)
	}
	if r.Run != "open" {
		r.close()
	}
	return r.State
}

// reading goes through a history. Like an execution it looks at a node again only when a parent of
// it has ended, so a long history of a large flow is read once.
type reading struct {
	*State
	index      map[string]int
	dependents [][]int
	waiting    []int // parents that have not ended
	ended      []int // nodes whose dependents have not been told
	changes    map[string]bool
	begun      []bool // of nodes that ask for something first: it has
	beside     map[string]bool
}

func newReading(s *Shape) *reading {
	st := &State{Shape: s, Hash: s.Hash(), Run: "open", Nodes: make([]NodeState, len(s.Nodes))}
	r := &reading{
		State: st, index: make(map[string]int, len(s.Nodes)), beside: map[string]bool{}, changes: map[string]bool{},
		dependents: make([][]int, len(s.Nodes)), waiting: make([]int, len(s.Nodes)), begun: make([]bool, len(s.Nodes)),
	}
	for i := range s.Nodes {
		st.Nodes[i] = NodeState{Name: s.Nodes[i].Name, Status: StatusWaiting}
		r.index[s.Nodes[i].Name] = i
	}
	for i := range s.Nodes {
		for _, parent := range s.Nodes[i].After {
			if p, ok := r.index[parent]; ok {
				if r.waiting[i]++; s.Nodes[i].Quorum > 0 {
					r.waiting[i] = s.Nodes[i].Quorum
				}
				r.dependents[p] = append(r.dependents[p], i)
			}
		}
	}
	return r
}

func (r *reading) beginRoots(at time.Time) {
	for i := range r.Nodes {
		if r.waiting[i] == 0 {
			r.begin(i, at)
		}
	}
}

func (r *reading) begin(i int, at time.Time) {
	n, shape := &r.Nodes[i], &r.Shape.Nodes[i]
	if n.Status == StatusSkipped { // a parent has taken it along: that reason stays
		return
	}
	if shape.Since != "" && !r.changes[shape.Since] || shape.Until != "" && r.changes[shape.Until] {
		n.Reason = ReasonChange
		r.end(i, StatusSkipped, at)
		return
	}
	if n.Status == StatusWaiting {
		n.Status = StatusRunning
	}
	n.Began = at
}

// end notes the end of a node, once.
func (r *reading) end(i int, status Status, at time.Time) {
	n := &r.Nodes[i]
	if !n.Ended.IsZero() {
		return
	}
	n.Status, n.Ended = status, at
	if status == StatusCompleted || status == StatusSkipped {
		r.ended = append(r.ended, i)
	}
}

// settle begins the nodes whose parents have ended, and skips those that a parent takes along: what
// an execution does in the turn of an event.
func (r *reading) settle(at time.Time) {
	for ; len(r.ended) > 0; r.ended = r.ended[1:] {
		i := r.ended[0]
		for _, d := range r.dependents[i] {
			r.waiting[d]--
			switch {
			case r.cascades(i) && r.Nodes[d].Status == StatusWaiting:
				r.Nodes[d].Reason = ReasonParent
				r.end(d, StatusSkipped, at)
			case r.waiting[d] == 0:
				r.begin(d, at)
			}
		}
	}
}

// cascades tells whether a node was skipped with its descendants.
func (r *reading) cascades(i int) bool {
	if r.Nodes[i].Status != StatusSkipped {
		return false
	}
	switch r.Nodes[i].Reason {
	case ReasonUnmet, ReasonChange:
		return r.Shape.Nodes[i].Unmet == SkipDescendants
	case ReasonFailed:
		return r.Shape.Nodes[i].Exhausted == SkipDescendants
	}
	return true
}

var endings = map[journal.Kind]string{
	journal.RunCompleted: "completed", journal.RunFailed: "failed", journal.RunCancelled: "cancelled",
	journal.RunTerminated: "terminated", journal.RunContinued: "continued",
}

// event takes in what an event tells, and then what the code asked for in reaction.
func (r *reading) event(e *journal.Event) {
	if ending, ok := endings[e.Kind]; ok {
		r.Run = ending
	}
	switch e.Kind {
	case journal.StepCompleted:
		r.stepCompleted(e)
	case journal.StepFailed:
		if n := r.node(e.Name); n != nil {
			if f, err := journal.DecodeFailure(e.Payload); err == nil {
				n.Error = f.Message
			}
		}
	}
	for i := range e.Issued {
		c := &e.Issued[i]
		switch c.Kind {
		case journal.CommandStep:
			r.step(c.Name)
		case journal.CommandChange:
			r.changes[c.Name] = true
		case journal.CommandTimer:
			r.asked(c.Name)
		case journal.CommandRecord:
			r.record(c.Name, e.Time)
		}
	}
}

func (r *reading) stepCompleted(e *journal.Event) {
	if name, undone := strings.CutPrefix(e.Name, undoPrefix); undone {
		if n := r.node(name); n != nil {
			n.Undone = true
		}
		return
	}
	i, ok := r.index[e.Name]
	if !ok {
		return
	}
	r.Nodes[i].Steps++
	if r.Shape.Nodes[i].Kind == KindStep {
		r.end(i, StatusCompleted, e.Time)
	}
}

// asked notes that a node has asked for something. It tells whether there is such a node.
func (r *reading) asked(name string) bool {
	i, ok := r.index[name]
	if ok {
		r.begun[i] = true
	}
	return ok
}

func (r *reading) node(name string) *NodeState {
	if i, ok := r.index[name]; ok {
		return &r.Nodes[i]
	}
	return nil
}

// step notes a step that no node has.
func (r *reading) step(name string) {
	if r.asked(name) {
		return
	}
	if name = strings.TrimPrefix(name, undoPrefix); r.node(name) == nil && !r.beside[name] {
		r.beside[name] = true
		r.Beside = append(r.Beside, name)
	}
}

// record reads a mark.
func (r *reading) record(name string, at time.Time) {
	of, _, _ := strings.Cut(name, ":")
	i, ok := r.index[of]
	if !ok {
		return
	}
	switch mark := name[len(of):]; {
	case mark == markDone:
		r.end(i, StatusCompleted, at)
	case mark == markFailed:
		r.end(i, StatusFailed, at)
	case strings.HasPrefix(mark, markSkipped):
		r.Nodes[i].Reason = Reason(strings.TrimPrefix(mark, markSkipped))
		r.end(i, StatusSkipped, at)
	}
}

// asks tells whether the first thing that a node of the kind does is a command of its name.
func (k Kind) asks() bool { return k == KindStep || k == KindMap || k == KindTime }

// close says what the end of the run means to nodes that have not ended.
func (r *reading) close() {
	for i := range r.Nodes {
		switch n := &r.Nodes[i]; n.Status {
		case StatusRunning:
			if n.Status = StatusCancelled; !r.begun[i] && r.Shape.Nodes[i].Kind.asks() {
				n.Status = StatusLeft // another one failed in the turn in which it would have begun
			}
		case StatusWaiting:
			n.Status = StatusLeft
		}
	}
}
