package sim

import (
	"iter"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// A run's generations are a tree once somebody has gone back. Each begins in one of three ways: with
// the start, with what the one before has handed on, or with the first events of the one before, as
// copies. What the last kind leaves behind is a branch: it has happened, so its commits, its
// executions and its effects are checked like all others, but what the run comes to does not
// follow from it. What it follows from is the lineage: the last generation, and what was there
// before its first event.

// begin is how a generation began.
type begin struct {
	back  *goneBack         // nil unless somebody went back
	from  *journal.Continue // where its inbox begins, and its input if it was handed on; nil for the beginning
	input journal.Payload
	cmds  journal.Cmd // that its copied events have issued
	kept  int         // copied events
}

// part is a generation of a run, or of one of which that is a fork.
type part struct {
	run *settled
	g   int // from 0
}

func (p part) events() []journal.Event {
	if list := p.run.generations(); p.g >= 0 && p.g < len(list) {
		return list[p.g]
	}
	return nil
}

func (p part) begin() *begin {
	if p.g >= 0 && p.g < len(p.run.begins) {
		return &p.run.begins[p.g]
	}
	return &begin{}
}

// source is the generation of which this one has copies.
func (p part) source() (part, bool) {
	b := p.begin().back
	if b == nil {
		return part{}, false
	}
	run, g := b.from()
	of := p.run.finder.left(run)
	return part{of, g}, of != nil
}

// begin finds out how all generations began. That of a fork may need that of another run.
func (f *finder) begin() {
	for _, s := range f.runs {
		s.begins = make([]begin, len(s.generations()))
		for _, c := range f.tape.commitsOf(s.id) {
			if next := int(c.Generation); c.Continue != nil && next < len(s.begins) {
				s.begins[next] = begin{from: c.Continue, input: c.Continue.Input}
			}
		}
		for _, b := range f.tape.backsOf(s.id) {
			if g := b.generation(); g < len(s.begins) {
				s.begins[g] = begin{back: b, from: b.begin, cmds: b.cmds, kept: int(b.a.Rewind.Head.Seq)}
			}
		}
	}
	for _, s := range f.runs {
		for g := range s.begins {
			s.begins[g].input = part{s, g}.input()
		}
	}
}

// input is that of a generation.
func (p part) input() journal.Payload {
	switch b := p.begin(); {
	case b.back != nil && b.back.a.Rewind.Version != 0:
		return b.back.a.Rewind.Input
	case b.back != nil:
		of, _ := p.source()
		if of.run == nil {
			return journal.Payload{}
		}
		return of.input()
	case b.from != nil:
		return b.from.Input
	}
	return p.run.finder.tape.inputs[p.run.id]
}

// lineage returns the generations that the run's outcome follows from, in order: the last one, and
// each that has handed something on to one of them.
func (s *settled) lineage() (list []part) {
	at := part{s, len(s.begins) - 1}
	for {
		list = append(list, at)
		for at.begin().back != nil { // what it has of that one it has as copies
			of, ok := at.source()
			if at.begin().back.a.Rewind.Whole || !ok {
				slices.Reverse(list)
				return list
			}
			at = of
		}
		if at.begin().from == nil {
			break
		}
		at.g--
	}
	slices.Reverse(list)
	return list
}

// events visits the events of the lineage.
func (s *settled) events() iter.Seq[*journal.Event] {
	return func(yield func(*journal.Event) bool) {
		for _, p := range s.lineage() {
			events := p.events()
			for i := range events {
				if !yield(&events[i]) {
					return
				}
			}
		}
	}
}

// own visits the events of all generations, branches among them, and each once: where it was
// written and not where it is a copy.
func (s *settled) own() iter.Seq[*journal.Event] {
	return func(yield func(*journal.Event) bool) {
		for g, events := range s.generations() {
			for i := s.begins[g].kept; i < len(events); i++ {
				if !yield(&events[i]) {
					return
				}
			}
		}
	}
}

// first is the first generation that is the run's own, from 0: that of a fork is the next one of the
// run of which it is.
func (s *settled) first() int {
	for g := range s.begins {
		if b := s.begins[g].back; b != nil && b.a.Fork != nil {
			return g
		}
	}
	return 0
}

// copied is how many messages a fork has from the run of which it is.
func (s *settled) copied() (n journal.InboxSeq) {
	for _, b := range s.finder.tape.backsOf(s.id) {
		n += b.copied
	}
	return n
}

// ancestors returns the run and those of which it is a fork.
func (s *settled) ancestors() (list []*settled) {
	for s != nil && !slices.Contains(list, s) {
		list = append(list, s)
		var of *settled
		for _, b := range s.finder.tape.backsOf(s.id) {
			if b.a.Fork != nil {
				of = s.finder.left(b.a.Run)
			}
		}
		s = of
	}
	return list
}

// wentBack tells whether somebody has gone back in the run, or it is a fork.
func (s *settled) wentBack() bool {
	return slices.ContainsFunc(s.begins, func(b begin) bool { return b.back != nil })
}

// end is how a generation has closed the run. Only the last one has done so for good.
type end struct {
	generation journal.Generation
	at         time.Time
	terminal   *journal.Event
}

// ends returns all times at which the run was closed.
func (s *settled) ends() (list []end) {
	generations := s.generations()
	for _, b := range s.begins {
		if b.back == nil || b.back.closed == nil || b.back.a.Fork != nil {
			continue
		}
		g := b.back.generation() - 1
		if events := generations[g]; len(events) > 0 {
			list = append(list, end{journal.Generation(g + 1), b.back.closed.ClosedAt, &events[len(events)-1]})
		}
	}
	if s.Run.Status.Closed() && s.Run.Terminal != nil {
		list = append(list, end{s.Run.Generation, s.Run.ClosedAt, s.Run.Terminal})
	}
	return list
}

// commandsOf returns the commands that the lineage has issued, as its children name them.
func (s *settled) commandsOf() map[journal.Parent]bool {
	all := map[journal.Parent]bool{}
	for _, p := range s.lineage() {
		cmds := commands(p.events())
		for cmd := journal.Cmd(1); cmd <= cmds; cmd++ {
			run, g := s.finder.tape.issuer(p.run.id, journal.Generation(p.g+1), cmd)
			all[journal.Parent{Run: run, Generation: g, Cmd: cmd}] = true
		}
	}
	return all
}

// taken lists the payloads of signals of a name that the lineage has consumed and not carried over
// unreceived, in order. What is carried over may come to nobody: an operator who goes back may leave
// it out.
func (s *settled) taken(name string) (list []string) {
	known := map[journal.InboxSeq]string{}
	for _, p := range s.lineage() {
		var carried []journal.InboxSeq
		if next := (part{p.run, p.g + 1}).begin(); next.back == nil && next.from != nil {
			carried = next.from.Carried
		}
		for _, ev := range p.events() {
			if n := int(ev.Inbox); ev.Kind == journal.SignalReceived && n <= len(p.run.Messages) && p.run.Messages[n-1].Name == name {
				known[ev.Inbox] = decodeSignal(p.run.Messages[n-1].Payload)
			}
		}
		for _, n := range carried {
			delete(known, n)
		}
	}
	for n := range s.Messages {
		if payload, ok := known[journal.InboxSeq(n+1)]; ok {
			list = append(list, payload)
		}
	}
	return list
}
