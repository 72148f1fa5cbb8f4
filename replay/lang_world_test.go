package replay_test

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
)

// langWorld is everything around a run of a random program: the executor, other runs and senders.
// It is a function of its seed and of the order in which things happen, and checks the machine
// against a model.
type langWorld struct {
	t    *testing.T
	seed uint64
	def  *replay.Definition
	info replay.Info
	r    *rig
	now  time.Time

	inbox    []journal.Message // a message's number is its place, from 1
	carried  []journal.InboxSeq
	seen     journal.InboxSeq
	steps    map[journal.Cmd]replay.Step
	kids     []*langChild
	replied  map[journal.InboxSeq]bool
	model    langModel
	sent     int // signals that the program receives
	outside  int // messages from outside
	canceled bool
	over     bool
	past     []*langLog
}

// langChild is a child without an outcome.
type langChild struct {
	id     journal.RunID
	parent journal.Parent
	name   string
	asked  bool // to stop
}

// langLog is all that was seen of one generation.
type langLog struct {
	info      replay.Info
	events    int // threshold of ShouldContinue
	history   []journal.Event
	reactions []langReaction
}

// langReaction is everything that can be seen of a machine after an event.
type langReaction struct {
	Rest     reaction
	Decision []string
	Answer   string
}

func newLangWorld(t *testing.T, seed uint64) *langWorld {
	w := &langWorld{t: t, seed: seed, def: langProgram(seed), now: epoch, replied: map[journal.InboxSeq]bool{}}
	w.begin(replay.Info{
		Run: journal.RunID{byte(seed), 2, 3}, Workflow: w.def.Name, Version: 1, Generation: 1, Queue: "default",
		Input: journal.Payload{Data: []byte(`{"Generation":0,"Last":0}`)},
	}, 0)
	return w
}

// begin starts a generation. last is the newest signal that the program has received.
func (w *langWorld) begin(info replay.Info, last int) {
	w.info, w.steps, w.model = info, map[journal.Cmd]replay.Step{}, langModel{number: last}
	w.past = append(w.past, &langLog{info: info, events: 5 + int(w.chance(0, 20))})
	w.r = newLangRig(w.def, info)
	w.live(w.r.m, w.log())
	w.step(journal.Event{Kind: journal.RunStarted})
}

func newLangRig(def *replay.Definition, info replay.Info) *rig {
	said := map[string]string{}
	info.Labels = said
	return &rig{m: replay.New(def, info, journal.New(nil, nil)), said: said}
}

func (w *langWorld) log() *langLog { return w.past[len(w.past)-1] }

// live makes a machine take what comes as new.
func (w *langWorld) live(m *replay.Machine, log *langLog) {
	m.SetThresholds(replay.Thresholds{Events: log.events})
	m.Info().Labels["salt"] = "live "
}

// chance is a number below n that depends on the seed and on what it is for, not on the order of
// events.
func (w *langWorld) chance(what, n uint64) uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, w.seed, w.info.Generation, what)
	return h.Sum64() % n
}

// ready lists what can happen next; what is more likely comes more often.
func (w *langWorld) ready() []string {
	var list []string
	if w.over {
		return nil
	}
	for _, cmd := range slices.Sorted(maps.Keys(w.steps)) {
		list = append(list, fmt.Sprint("step ", cmd), fmt.Sprint("step ", cmd))
	}
	if _, armed := w.r.m.NextTimer(); armed {
		list = append(list, "timer", "timer")
	}
	if w.next() != 0 {
		list = append(list, "inbox", "inbox", "inbox")
	}
	for i := range w.kids {
		list = append(list, "child "+w.kids[i].id.String())
	}
	if w.outside < 12 {
		list = append(list, "signal", "noise", "update")
	}
	if !w.canceled && (w.outside > 8 || len(list) == 0) {
		list = append(list, "cancel")
	}
	return list
}

// next is the number of the message that the run takes next, 0 for none.
func (w *langWorld) next() journal.InboxSeq {
	if len(w.carried) > 0 {
		return w.carried[0]
	}
	if int(w.seen) < len(w.inbox) {
		return w.seen + 1
	}
	return 0
}

func (w *langWorld) send(msg journal.Message) {
	msg.Number = journal.InboxSeq(len(w.inbox) + 1)
	w.inbox = append(w.inbox, msg)
}

// happen makes something of ready happen.
func (w *langWorld) happen(what string) {
	w.now = w.now.Add(100 * time.Millisecond)
	word, arg, _ := strings.Cut(what, " ")
	switch word {
	case "step":
		w.outcome(arg)
	case "timer":
		timer, _ := w.r.m.NextTimer()
		if timer.Due.After(w.now) {
			w.now = timer.Due
		}
		w.step(journal.Event{Kind: journal.TimerFired, Cmd: timer.Cmd, Name: timer.Name})
	case "inbox":
		w.consume()
	case "child":
		w.childEnds(arg)
	default:
		w.outside++
		w.fromOutside(word)
	}
}

func (w *langWorld) fromOutside(word string) {
	number := func(n int) journal.Payload { return journal.Payload{Data: fmt.Append(nil, n)} }
	switch word {
	case "signal":
		w.sent++
		w.send(journal.Message{Kind: journal.MessageSignal, Name: "number", Payload: number(w.sent)})
	case "noise":
		w.send(journal.Message{Kind: journal.MessageSignal, Name: string(langNoise), Payload: number(1)})
	case "update":
		w.send(journal.Message{Kind: journal.MessageUpdate, Name: string(langAdd), Payload: number(w.outside)})
	case "cancel":
		w.canceled = true
		w.send(journal.Message{Kind: journal.MessageCancel, Payload: failure("cancelled", "enough")})
	}
}

func (w *langWorld) outcome(arg string) {
	var cmd journal.Cmd
	_, _ = fmt.Sscan(arg, &cmd)
	s := w.steps[cmd]
	delete(w.steps, cmd)
	ev := journal.Event{Kind: journal.StepCompleted, Cmd: cmd, Name: s.Name, Attempt: 1, Payload: journal.Payload{Data: fmt.Appendf(nil, "%q", s.Name)}}
	if strings.HasPrefix(s.Name, "undo ") {
		ev.Payload.Data = []byte("{}") // what undoes a step returns nothing
	}
	if n := w.chance(uint64(cmd), 4); n == 0 || n == 1 && s.Cancelled {
		ev.Kind, ev.Payload = journal.StepFailed, failure([]string{"*errors.errorString", "cancelled"}[n], "no")
	}
	w.step(ev)
}

// childEnds puts a child's outcome into the inbox. The parent may be another generation than the
// child's by now.
func (w *langWorld) childEnds(id string) {
	i := slices.IndexFunc(w.kids, func(k *langChild) bool { return k.id.String() == id })
	k := w.kids[i]
	w.kids = slices.Delete(w.kids, i, i+1)
	msg := journal.Message{
		Kind: journal.MessageChildCompleted, Name: k.name, Cmd: k.parent.Cmd, Generation: k.parent.Generation,
		Payload: journal.Payload{Data: []byte(`"grown"`)},
	}
	if k.asked || w.chance(uint64(k.parent.Cmd), 4) == 0 {
		msg.Kind, msg.Payload = journal.MessageChildFailed, failure("cancelled", "asked to stop")
	}
	w.send(msg)
}

// consume gives the run its next message, as the actor does.
func (w *langWorld) consume() {
	msg := w.inbox[w.next()-1]
	if len(w.carried) > 0 {
		w.carried = w.carried[1:]
	} else {
		w.seen++
	}
	if msg.Kind == journal.MessageUpdate {
		var n int
		_, _ = fmt.Sscan(string(msg.Payload.Data), &n)
		err := w.r.m.CheckUpdate(msg.Name, msg.Payload)
		if refused := n%5 == 4; refused != (err != nil) {
			w.t.Errorf("update %d: %v", n, err)
		} else if refused {
			w.reply(msg.Number)
			return
		}
	}
	if msg.Kind.Answers() && msg.Generation != w.info.Generation {
		msg.Cmd = 0
	}
	ev := msg.Event()
	dropped := msg.Kind.Answers() && !w.model.open(msg.Cmd)
	log, at := w.log(), len(w.log().history)
	w.step(ev)
	if got := log.history[at]; dropped != (got.Kind == journal.MessageDropped) || got.Inbox != msg.Number {
		w.t.Errorf("answer to command %d became %v, model: dropped %v", msg.Cmd, got, dropped)
	}
}

func (w *langWorld) reply(n journal.InboxSeq) {
	if w.replied[n] {
		w.t.Errorf("update %d has two replies", n)
	}
	w.replied[n] = true
}

// step applies a new event and carries its decision out.
func (w *langWorld) step(ev journal.Event) {
	log := w.log()
	ev.Seq, ev.Time = w.r.m.LastSeq()+1, w.now
	if err := w.r.m.Step(&ev); err != nil {
		w.t.Fatalf("seed %d: event %d %v: %v", w.seed, ev.Seq, ev.Kind, err)
	}
	log.history = append(log.history, ev)
	d := w.r.m.Take()
	w.model.apply(w.t, &ev)
	w.model.check(w.t, w.r.m, &ev, &d, w.info.Generation)
	log.reactions = append(log.reactions, w.r.langReaction(&ev, &d))
	w.carryOut(&d)
	if d.Terminal != nil {
		w.end(&d)
	}
}

func (r *rig) langReaction(ev *journal.Event, d *replay.Decision) langReaction {
	a := langReaction{Rest: r.reaction(ev, nil), Decision: langDecision(d)}
	answer, err := r.m.Query(string(langState), journal.Payload{Data: []byte("0")})
	_, refused := r.m.Query(string(langState), journal.Payload{Data: []byte("1")})
	a.Answer = fmt.Sprintf("%s, %v, %v", answer.Data, err, refused)
	return a
}

func langDecision(d *replay.Decision) []string {
	var list []string
	for _, s := range d.Steps {
		list = append(list, fmt.Sprint("step ", s.Cmd, s.Name, s.IssuedAt, s.Cancelled))
	}
	list = append(list, fmt.Sprint(d.CancelSteps, d.DropSteps, d.OnlySteps))
	for _, st := range d.Starts {
		parent := *st.Parent
		st.Parent = nil
		list = append(list, fmt.Sprintf("%+v %+v", st, parent))
	}
	for _, x := range d.Messages {
		list = append(list, fmt.Sprintf("%+v", x))
	}
	for _, x := range d.Replies {
		list = append(list, fmt.Sprintf("%+v", x))
	}
	if d.Terminal != nil {
		list = append(list, fmt.Sprintf("%+v %v %+v", *d.Terminal, d.Children, d.Continue))
	}
	return list
}

func (w *langWorld) carryOut(d *replay.Decision) {
	for _, s := range d.Steps {
		w.steps[s.Cmd] = s
	}
	for _, cmd := range d.CancelSteps {
		if s, ok := w.steps[cmd]; ok {
			s.Cancelled = true
			w.steps[cmd] = s
		}
	}
	for _, cmd := range d.DropSteps {
		delete(w.steps, cmd)
	}
	for _, r := range d.Replies {
		w.reply(r.Number)
	}
	for _, st := range d.Starts {
		if st.Key != "" && w.chance(uint64(st.Parent.Cmd), 3) == 0 {
			w.send(journal.Message{
				Kind: journal.MessageChildFailed, Name: st.Workflow, Cmd: st.Parent.Cmd, Generation: st.Parent.Generation,
				Payload: journal.EncodeFailure(&journal.Failure{Type: journal.FailureKeyExists, Message: "taken"}),
			})
			continue
		}
		w.kids = append(w.kids, &langChild{id: st.ID, parent: *st.Parent, name: st.Workflow})
	}
	for _, msg := range d.Messages {
		w.route(msg, d.Terminal != nil && d.Continue == nil)
	}
}

// route delivers a message to a child, or to nobody, and answers if somebody asked.
func (w *langWorld) route(msg journal.Message, closed bool) {
	i := slices.IndexFunc(w.kids, func(k *langChild) bool { return k.id == msg.Run })
	if i >= 0 && msg.Kind == journal.MessageCancel {
		w.kids[i].asked = true
	}
	if msg.Cmd == 0 || closed {
		return
	}
	answer := journal.Message{Kind: journal.MessageSent, Name: msg.Name, Cmd: msg.Cmd, Generation: msg.Generation}
	if i < 0 {
		answer.Kind = journal.MessageRefused
		answer.Payload = journal.EncodeFailure(&journal.Failure{Type: journal.FailureNotFound, Message: "nobody"})
	}
	w.send(answer)
}

// end closes a generation as the program and the model say, and begins the next one.
func (w *langWorld) end(d *replay.Decision) {
	log, said := w.log(), w.r.said
	if want := said["end"]; d.Terminal.Kind.String() != want {
		w.t.Errorf("the program ended with %s, the machine with %s", want, d.Terminal.Kind)
	}
	if want := fmt.Sprint(w.model.number); said["seen"] != want {
		w.t.Errorf("%s signals are known, %s were delivered", said["seen"], want)
	}
	if running := w.model.unanswered(); said["handlers"] == "<nil>" && len(running) > 0 {
		w.t.Errorf("updates %v have no reply", running)
	}
	ev := *d.Terminal
	ev.Seq, ev.Time = w.r.m.LastSeq()+1, w.now
	if err := w.r.m.Step(&ev); err != nil {
		w.t.Fatalf("the end: %v", err)
	}
	log.history = append(log.history, ev)
	nothing := w.r.m.Take()
	log.reactions = append(log.reactions, w.r.langReaction(&ev, &nothing))
	w.r.m.Close()
	if w.over = d.Continue == nil; w.over {
		return
	}
	var last int
	_, _ = fmt.Sscan(said["last"], &last)
	if want := w.model.carried(last); !slices.Equal(want, d.Continue.Carried) {
		w.t.Errorf("carried: model %v, machine %v", want, d.Continue.Carried)
	}
	next := w.info
	next.Generation, next.Input = next.Generation+1, d.Continue.Input
	w.carried = append(d.Continue.Carried, w.carried...)
	slices.Sort(w.carried)
	w.seen = max(w.seen, d.Continue.Seen)
	next.InboxSeen = w.seen
	w.begin(next, last)
}

// rng returns the order of a random execution.
func (w *langWorld) rng(variant uint64) *rand.Rand {
	return rand.New(rand.NewPCG(w.seed, 1000+variant))
}
