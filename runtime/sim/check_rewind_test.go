package sim

import (
	"reflect"
	"slices"
	"strconv"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/memory"
)

// What a rewind makes of a run is checked at once, in the moment in which it is stored (J13): the
// events that it keeps and no other, as they were; the messages that come again and no other; the
// children that are asked to end and no other. All of it is computed here from what was stored
// before, and not with what the product computes it with. What the run then does is a matter of the
// checks at the end.

// rewound checks a retry or a reset. children are those of the run before it.
func (w *world) rewound(a *driver.AdminAction, was, now *memory.RunSnapshot, children []memory.RunSnapshot) {
	b := w.noteBack(a, was, now)
	r := rewinding{w: w, b: b, was: was, now: now, seq: int(a.Rewind.Head.Seq)}
	r.row()
	r.history()
	r.inbox(children)
	r.children(children)
	r.listened()
}

// rewinding is one rewind with what was and is stored of its run.
type rewinding struct {
	w        *world
	b        *goneBack
	was, now *memory.RunSnapshot
	seq      int // events that are kept
}

func (r *rewinding) breaks(format string, args ...any) {
	list := append([]any{r.b.a.Kind, r.w.number(r.b.a.Run), r.seq, len(r.was.Events), r.was.Run.Generation}, args...)
	r.w.breaks("rewind", "a %s of run %s to event %d of %d of generation %d: "+format+" (J13)", list...)
}

// row: the run is open and free, and due or waiting for the limits that it holds; a pause stays.
func (r *rewinding) row() {
	t, holds := r.now.Run.Task, len(r.now.Run.Limits) > 0
	switch {
	case r.now.Run.Generation != r.was.Run.Generation+1:
		r.breaks("generation %d follows", r.now.Run.Generation)
	case t == nil || r.now.Run.Status != journal.Open:
		r.breaks("the run is %s, its task %+v", r.now.Run.Status, t)
	case t.Owner != 0 || t.VisibleAt.IsZero() && !holds:
		r.breaks("the task is not free and due: %+v", *t)
	case r.was.Run.Task != nil && r.was.Run.Task.State.OnHold() != (t.State == journal.Paused) || t.State != journal.Paused && t.State != journal.Ready && !(holds && t.State == journal.Limited):
		r.breaks("the task was %+v and is %+v", r.was.Run.Task, *t)
	}
}

// history: the kept events are copies, and nothing is changed in what was there.
func (r *rewinding) history() {
	if !reflect.DeepEqual(r.now.Past, append(slices.Clip(r.was.Past), r.was.Events)) && len(r.was.Events) > 0 {
		r.breaks("the generations before it are not what they were")
	}
	if kept := r.was.Events[:r.seq]; len(kept) != len(r.now.Events) || len(kept) > 0 && !reflect.DeepEqual(kept, r.now.Events) {
		r.breaks("it begins with %d events, or with others", len(r.now.Events))
	}
}

// unread returns the messages that the kept events have not consumed and that the generation, or all
// of them together if the run begins anew, may have. first tells of a message whether it is among
// these.
func (r *rewinding) unread() (list []journal.Message) {
	consumed := map[journal.InboxSeq]bool{}
	for i := range r.was.Events[:r.seq] {
		consumed[r.was.Events[i].Inbox] = true
	}
	begin := r.was.Run.Continued
	for _, m := range r.was.Messages {
		old := begin != nil && m.Number <= begin.Seen && !slices.Contains(begin.Carried, m.Number)
		if !consumed[m.Number] && (!old || r.b.a.Rewind.Whole) && !r.was.Answers[m.Number].Rejected {
			list = append(list, m)
		}
	}
	return list
}

// stale tells of an answer whether its child, one of these, has gone on since: a later one has been
// sent, or the child is open or has ended otherwise.
func (r *rewinding) stale(m *journal.Message, children []memory.RunSnapshot) bool {
	if m.Kind != journal.MessageChildCompleted && m.Kind != journal.MessageChildFailed {
		return false
	}
	later := func(o journal.Message) bool {
		return o.Number > m.Number && o.Kind.Answers() && o.Generation == m.Generation && o.Cmd == m.Cmd
	}
	if slices.ContainsFunc(r.was.Messages, later) {
		return true
	}
	for i := range children {
		kid := &children[i].Run
		if kid.Parent.Generation != m.Generation || kid.Parent.Cmd != m.Cmd {
			continue
		}
		return !kid.Status.Closed() || !slices.Equal(kid.Terminal.Payload.Data, m.Payload.Data) ||
			(kid.Status == journal.Completed) != (m.Kind == journal.MessageChildCompleted)
	}
	return false
}

// inbox: signals and updates come again or not as the operator says, answers do that are not stale,
// and a request to cancel does not. An update that comes again has no answer, and one that is left
// out has one.
func (r *rewinding) inbox(children []memory.RunSnapshot) {
	var want, got []journal.InboxSeq
	answers := map[journal.InboxSeq]bool{} // that there must be
	for n := range r.was.Answers {
		answers[n] = true
	}
	again := r.b.a.Rewind.Messages
	for _, m := range r.unread() {
		leftOut := again.None && !slices.Contains(again.Names, m.Name) && !m.Kind.Answers() && m.Kind != journal.MessageCancel || m.Number == again.Skip
		switch {
		case m.Kind == journal.MessageCancel && (!again.Cancel || leftOut), r.stale(&m, children):
		case leftOut && m.Kind == journal.MessageUpdate:
			answers[m.Number] = true
		case leftOut:
		default:
			want = append(want, m.Number)
			delete(answers, m.Number)
		}
	}
	r.keptAnswers(answers)
	for _, m := range r.now.Inbox {
		if int(m.Number) <= len(r.was.Messages) { // answers of children may come with it
			got = append(got, m.Number)
		}
	}
	if !slices.Equal(got, want) {
		r.breaks("messages %v wait, want %v, of %d", got, want, len(r.was.Messages))
	}
	for n := range max(len(r.was.Messages), len(r.now.Answers)) {
		n := journal.InboxSeq(n + 1)
		if _, has := r.now.Answers[n]; has != answers[n] {
			r.breaks("update %d has an answer: %t, want %t", n, has, answers[n])
		}
	}
	if len(r.now.Messages) < len(r.was.Messages) || !slices.EqualFunc(r.was.Messages, r.now.Messages[:len(r.was.Messages)], sameMessage) {
		r.breaks("messages are gone, or are others")
	}
}

// sameMessage compares messages without their receivers and keys: a fork has copies, and keys become
// free.
func sameMessage(a, b journal.Message) bool {
	return a.Number == b.Number && a.Kind == b.Kind && a.Name == b.Name && slices.Equal(a.Payload.Data, b.Payload.Data) &&
		a.Cmd == b.Cmd && a.Generation == b.Generation
}

// keptAnswers takes out the answers to updates that the kept events have received and not answered:
// the code answers them anew.
func (r *rewinding) keptAnswers(answers map[journal.InboxSeq]bool) {
	kept := r.was.Events[:r.seq]
	for i := range kept {
		replies := func(ev journal.Event) bool {
			return slices.ContainsFunc(ev.Issued, func(c journal.Issued) bool {
				return c.Kind == journal.CommandReply && c.Detail == strconv.Itoa(int(kept[i].Inbox))
			})
		}
		if kept[i].Kind == journal.UpdateReceived && !slices.ContainsFunc(kept, replies) {
			delete(answers, kept[i].Inbox)
		}
	}
}

// children: those that the kept events have started go on, and one that has ended without being heard
// answers now, once; of one that is open nothing is to be heard but what the kept events have. Others are asked to end, unless they outlive their parent or are to be left
// alone; those of earlier branches have been asked before.
func (r *rewinding) children(before []memory.RunSnapshot) {
	came := map[journal.Parent]int{}
	waiting := map[journal.Parent]bool{}
	for _, m := range r.now.Inbox {
		at := journal.Parent{Generation: m.Generation, Cmd: m.Cmd}
		if m.Kind.Answers() {
			came[at]++
			waiting[at] = true
		}
	}
	for i := range r.now.Events {
		if n := r.now.Events[i].Inbox; n > 0 && r.now.Messages[n-1].Kind.Answers() {
			m := &r.now.Messages[n-1]
			came[journal.Parent{Generation: m.Generation, Cmd: m.Cmd}]++
		}
	}
	run, present := r.b.a.Run, r.b.a.Rewind.Generation
	waits := map[journal.Parent]bool{} // commands of kept events
	for cmd := journal.Cmd(1); cmd <= r.b.cmds; cmd++ {
		if of, g := r.w.tape.issuer(run, present, cmd); of == run {
			waits[journal.Parent{Generation: g, Cmd: cmd}] = true
		}
	}
	for i := range before {
		kid := &before[i]
		at := journal.Parent{Generation: kid.Run.Parent.Generation, Cmd: kid.Run.Parent.Cmd}
		_, g := r.w.tape.issuer(run, present, at.Cmd)
		orphan := !waits[at] && (g == at.Generation || r.b.a.Rewind.Whole) && kid.Run.Parent.Policy != journal.CloseAbandon
		asked := slices.ContainsFunc(r.w.kept(kid.Run.ID).Messages, isCancel)
		switch open := !kid.Run.Status.Closed(); {
		case !open && waits[at] && came[at] != 1:
			r.breaks("child %s, of command %d of generation %d, has ended and has answered %d times", kid.Run.ID, at.Cmd, at.Generation, came[at])
		case open && waiting[at]:
			r.breaks("child %s, of command %d of generation %d, is open, and what it has answered before waits", kid.Run.ID, at.Cmd, at.Generation)
		case open && orphan && !r.b.a.Rewind.KeepChildren && !asked:
			r.breaks("child %s, of command %d of generation %d, is left behind the point and is not asked to end", kid.Run.ID, at.Cmd, at.Generation)
		case open && asked && !slices.ContainsFunc(kid.Messages, isCancel) && (!orphan || r.b.a.Rewind.KeepChildren):
			r.breaks("child %s, of command %d of generation %d, is asked to end", kid.Run.ID, at.Cmd, at.Generation)
		}
	}
}

func isCancel(m journal.Message) bool { return m.Kind == journal.MessageCancel }

// listened has the client of a run wait for its end once more: it ends another time.
func (r *rewinding) listened() {
	w := r.w
	w.mu.Lock()
	defer w.mu.Unlock()
	of := w.run(r.b.made)
	if of == nil || of.of != 0 {
		return
	}
	of.heard, of.since = false, r.now.Run.Generation
	of.ear++
	id, ear := of.id, of.ear
	w.drivers.Go(func() { w.listen(of, id, ear) })
}
