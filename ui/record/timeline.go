package record

import (
	"container/heap"
	"strconv"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// Timeline is what a generation of a run has done and waited for, over time.
type Timeline struct {
	Run        Run       `json:"run" doc:"the run"`
	Generation int32     `json:"generation" doc:"the generation"`
	Events     int       `json:"events" doc:"length of its history"`
	BeginAt    time.Time `json:"begin_at" doc:"time of its first event"`
	LastAt     time.Time `json:"last_at" doc:"time of its last event"`
	Lanes      int       `json:"lanes" doc:"how many spans there were at once, at most"`
	Total      int       `json:"total" doc:"how many spans there are"`
	Spans      []Span    `json:"spans" doc:"the spans, in the order in which they began"`
	Next       int       `json:"next,omitempty" doc:"the parameter after for the spans behind these; absent if there are none"`
}

// Span is a time in which a run did something or waited for it. What began in one turn began at the
// time of the event that the turn was about.
type Span struct {
	Kind     string     `json:"kind" doc:"step, timer, child, send, update, or signal and cancel request, which take no time"`
	Name     string     `json:"name,omitempty" doc:"name of the step, timer, signal, update or child's workflow"`
	Cmd      int32      `json:"cmd,omitempty" doc:"number of the command in its generation"`
	Lane     int        `json:"lane" doc:"the first place beside the other spans that was free when it began, from 0"`
	BeginAt  time.Time  `json:"begin_at" doc:"when the code asked for it, or the run heard of it"`
	EndAt    *time.Time `json:"end_at,omitempty" doc:"when its outcome was an event; absent while it is open"`
	DueAt    *time.Time `json:"due_at,omitempty" doc:"of a timer: when it was to fire"`
	Outcome  string     `json:"outcome,omitempty" doc:"completed, failed, fired, cancelled, sent, refused, received, or left if the run ended before; absent while it is open"`
	Seq      int32      `json:"seq,omitempty" doc:"number of the event that has its outcome"`
	Attempts int32      `json:"attempts,omitempty" doc:"attempts that a step took; of an open one those that have failed"`
	NextAt   *time.Time `json:"next_at,omitempty" doc:"of an open step: when the next attempt is due"`
	Run      string     `json:"run,omitempty" doc:"of a child: its id"`
}

// Timeliner makes a timeline of a history that it is shown page by page. It keeps the spans of one
// page of the answer and those that are open, however long the history is.
type Timeliner struct {
	t           Timeline
	after, most int
	cmd         journal.Cmd // number of the newest command
	open        map[journal.Cmd]*opened
	updates     map[string]*opened // by their numbers
	free        freeLanes
	closed      bool
}

// opened is a span without an outcome.
type opened struct {
	at, lane int // at is its place in the answer, -1 if it is on another page
	kind     journal.CommandKind
}

// NewTimeliner returns one that keeps at most so many spans behind the first ones.
func NewTimeliner(after, most int) *Timeliner {
	return &Timeliner{t: Timeline{Spans: []Span{}}, after: after, most: most, open: map[journal.Cmd]*opened{}, updates: map[string]*opened{}}
}

// spanKinds are the kinds of commands that are spans, and spanOutcomes those of events that end
// one, with what it has come to.
var (
	spanKinds    = map[journal.CommandKind]string{journal.CommandStep: "step", journal.CommandTimer: "timer", journal.CommandChild: "child", journal.CommandSend: "send"}
	spanOutcomes = map[journal.Kind]string{
		journal.StepCompleted: "completed", journal.StepFailed: "failed", journal.TimerFired: "fired", journal.ChildCompleted: "completed",
		journal.ChildFailed: "failed", journal.SignalSent: "sent", journal.SignalRefused: "refused",
	}
)

// Add takes in the next event.
func (l *Timeliner) Add(e *journal.Event) {
	if l.t.Events++; l.t.Events == 1 {
		l.t.BeginAt = e.Time
	}
	l.t.LastAt = e.Time
	if outcome := spanOutcomes[e.Kind]; outcome != "" && e.Cmd != 0 {
		l.end(l.open[e.Cmd], e, outcome)
		delete(l.open, e.Cmd)
	}
	switch e.Kind {
	case journal.SignalReceived:
		l.end(l.begin(Span{Kind: "signal", Name: e.Name}, e.Time, 0), e, "received")
	case journal.CancelRequested:
		l.end(l.begin(Span{Kind: "cancel request"}, e.Time, 0), e, "received")
	case journal.UpdateReceived:
		l.updates[strconv.FormatInt(int64(e.Inbox), 10)] = l.begin(Span{Kind: "update", Name: e.Name}, e.Time, 0)
	}
	for i := range e.Issued {
		l.issued(&e.Issued[i], e)
	}
	if e.Kind.Terminal() || e.Kind == journal.RunContinued {
		l.close(e)
	}
}

// issued takes in a command.
func (l *Timeliner) issued(c *journal.Issued, e *journal.Event) {
	l.cmd++ // every command has a number
	switch c.Kind {
	case journal.CommandCancel:
		if o := l.open[c.Target]; o != nil && o.kind == journal.CommandTimer { // which gets no event
			l.end(o, e, "cancelled")
			delete(l.open, c.Target)
		}
	case journal.CommandReply:
		l.end(l.updates[c.Detail], e, "completed")
		delete(l.updates, c.Detail)
	default:
		if kind := spanKinds[c.Kind]; kind != "" {
			l.open[l.cmd] = l.begin(Span{Kind: kind, Name: c.Name, Cmd: int32(l.cmd), DueAt: Moment(c.Due)}, e.Time, c.Kind)
		}
	}
}

func (l *Timeliner) begin(s Span, at time.Time, kind journal.CommandKind) *opened {
	o := &opened{at: -1, lane: l.free.take(&l.t.Lanes), kind: kind}
	if l.t.Total++; l.t.Total > l.after && len(l.t.Spans) < l.most {
		s.BeginAt, s.Lane, o.at = at, o.lane, len(l.t.Spans)
		l.t.Spans = append(l.t.Spans, s)
	}
	return o
}

// end ends a span; nil is none.
func (l *Timeliner) end(o *opened, e *journal.Event, outcome string) {
	if o == nil {
		return
	}
	heap.Push(&l.free, o.lane)
	if o.at >= 0 {
		s := &l.t.Spans[o.at]
		s.EndAt, s.Outcome, s.Seq, s.Attempts = Moment(e.Time), outcome, int32(e.Seq), e.Attempt
	}
}

// close ends what is open when the generation ends.
func (l *Timeliner) close(e *journal.Event) {
	l.closed = true
	for _, o := range l.open {
		l.end(o, e, "left")
	}
	for _, o := range l.updates {
		l.end(o, e, "left")
	}
}

// Answer returns the timeline of a run. What is known of its steps in retry is added.
func (l *Timeliner) Answer(run Run, generation journal.Generation, task *journal.Task) *Timeline {
	t := &l.t
	t.Run, t.Generation = run, int32(generation)
	if task != nil && task.Generation == generation && !l.closed {
		for _, a := range task.Attempts {
			if o := l.open[a.Cmd]; o != nil && o.at >= 0 {
				t.Spans[o.at].Attempts, t.Spans[o.at].NextAt = a.Made, Moment(a.NextAt)
			}
		}
	}
	if last := l.after + len(t.Spans); last < t.Total && len(t.Spans) > 0 {
		t.Next = last
	}
	return t
}

// freeLanes are the places beside each other that no span has, the first one on top.
type freeLanes []int

// take returns the first free lane, or a new one.
func (f *freeLanes) take(all *int) int {
	if len(*f) > 0 {
		return heap.Pop(f).(int)
	}
	*all++
	return *all - 1
}

// Len, Less, Swap, Push and Pop implement heap.Interface.
func (f *freeLanes) Len() int           { return len(*f) }
func (f *freeLanes) Less(i, j int) bool { return (*f)[i] < (*f)[j] }
func (f *freeLanes) Swap(i, j int)      { (*f)[i], (*f)[j] = (*f)[j], (*f)[i] }
func (f *freeLanes) Push(v any)         { *f = append(*f, v.(int)) }
func (f *freeLanes) Pop() any {
	last := (*f)[len(*f)-1]
	*f = (*f)[:len(*f)-1]
	return last
}
