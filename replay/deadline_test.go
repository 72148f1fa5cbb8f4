package replay_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/replay/workflow"
)

// hourly is a run whose start gave it an hour, or d.
func hourly(def *replay.Definition, d time.Duration) *rig {
	said := map[string]string{}
	info := replay.Info{Run: journal.RunID{1}, Workflow: def.Name, Version: 1, Generation: 1, Labels: said, StartAt: epoch}
	if d > 0 {
		info.Deadline = epoch.Add(d)
	}
	return &rig{m: replay.New(def, info, journal.New(nil, nil)), said: said}
}

// due takes the event of the timer that is due first.
func due(t *testing.T, r *rig) journal.Event {
	t.Helper()
	timer, armed := r.m.NextTimer()
	if !armed {
		t.Fatal("no timer is armed")
	}
	ev := r.m.Stamp(timer.Event(), timer.Due)
	mustStep(t, r, ev)
	return ev
}

// patient waits for two hours, then, whatever happened, for another one, which nothing disturbs.
var patient = define(func(c ctx) (string, error) {
	err := workflow.Sleep(c, 2*time.Hour)
	say(c, "%v, timeout %v, cancelled %v", err, errors.Is(err, workflow.ErrTimeout), errors.Is(err, workflow.ErrCancelled))
	_ = workflow.Sleep(workflow.Shield(c), time.Hour)
	return "", err
})

// TestDeadline: when the time of a run is up its root scope ends as by a cancel request, once, with
// ErrTimeout; then its code has all the time it takes, and the run fails. The history repeats it
// whatever time the run has then.
func TestDeadline(t *testing.T) {
	r := hourly(patient, time.Hour)
	defer r.m.Close()
	mustStep(t, r, started())
	ev := due(t, r)
	if ev.Kind != journal.CancelRequested || ev.Inbox != 0 || !ev.Time.Equal(epoch.Add(time.Hour)) {
		t.Errorf("event %+v", ev)
	}
	if want := "timed out: the run's time of 1h0m0s is up, timeout true, cancelled false\n"; r.said["said"] != want {
		t.Errorf("said %q, want %q", r.said["said"], want)
	}
	if timer, _ := r.m.NextTimer(); timer.Cmd == 0 || !timer.Due.Equal(epoch.Add(2*time.Hour)) {
		t.Errorf("the next timer is %+v, not the shielded one", timer)
	}
	due(t, r)
	d := r.m.Take()
	f, err := journal.DecodeFailure(d.Terminal.Payload)
	if err != nil || d.Terminal.Kind != journal.RunFailed || f.Type != journal.FailureTimeout {
		t.Errorf("ended with %s, %+v, %v", d.Terminal.Kind, f, err)
	}
	if _, armed := r.m.NextTimer(); armed {
		t.Error("a timer is armed after the end")
	}
	for _, other := range []time.Duration{0, time.Minute, 5 * time.Hour} {
		again := hourly(patient, other)
		for i := range r.history {
			if err := again.m.Replay(&r.history[i]); err != nil {
				t.Fatalf("with a time of %s: %v", other, err)
			}
		}
		again.m.Close()
	}
}

// TestDeadlineOfTheDefinition: it counts for a run whose start gave it no time.
func TestDeadlineOfTheDefinition(t *testing.T) {
	def := *patient
	def.Timeout = 30 * time.Minute
	for d, want := range map[time.Duration]time.Duration{0: 30 * time.Minute, time.Hour: time.Hour, time.Minute: time.Minute, 3 * time.Hour: 2 * time.Hour} {
		r := hourly(&def, d)
		mustStep(t, r, started())
		if timer, armed := r.m.NextTimer(); !armed || !timer.Due.Equal(epoch.Add(want)) {
			t.Errorf("a start with %s: next timer %v, want %s", d, timer.Due.Sub(epoch), want)
		}
		r.m.Close()
	}
}

// TestNoDeadline: without the time at which a run began, as in files of older releases, a definition
// gives it no time; and a request that somebody sent is no timeout, whatever its reason.
func TestNoDeadline(t *testing.T) {
	def := *patient
	def.Timeout = time.Hour
	r := newRig(&def)
	defer r.m.Close()
	mustStep(t, r, started())
	if timer, _ := r.m.NextTimer(); timer.Cmd == 0 {
		t.Errorf("the next timer is %+v", timer)
	}
	f := &journal.Failure{Type: journal.FailureTimeout, Message: "too late"}
	mustStep(t, r, journal.Event{Kind: journal.CancelRequested, Inbox: 1, Time: epoch, Payload: journal.EncodeFailure(f)})
	if want := "cancelled: too late, timeout false, cancelled true\n"; r.said["said"] != want {
		t.Errorf("said %q, want %q", r.said["said"], want)
	}
}

// TestDeadlineOfACancelledRun: a run that was cancelled is not timed out as well, and one that was
// timed out is not cancelled as well.
func TestDeadlineOfACancelledRun(t *testing.T) {
	cancel := journal.Event{Kind: journal.CancelRequested, Inbox: 1, Time: epoch}
	r := hourly(patient, time.Hour)
	mustStep(t, r, started())
	mustStep(t, r, cancel)
	if timer, _ := r.m.NextTimer(); timer.Cmd == 0 {
		t.Errorf("next timer %+v", timer)
	}
	due(t, r)
	if d := r.m.Take(); d.Terminal == nil || d.Terminal.Kind != journal.RunCancelled {
		t.Errorf("decision %+v", d)
	}
	r.m.Close()

	r = hourly(patient, time.Hour)
	mustStep(t, r, started())
	due(t, r)
	cancel.Time = epoch.Add(time.Hour)
	mustStep(t, r, cancel)
	due(t, r)
	if d := r.m.Take(); d.Terminal == nil || d.Terminal.Kind != journal.RunFailed {
		t.Errorf("decision %+v", d)
	}
	r.m.Close()
}

// TestTimedOutRunSaysSo: a run whose time was up fails with that, also if its last step or child was
// merely cancelled; one that fails otherwise says what it says.
func TestTimedOutRunSaysSo(t *testing.T) {
	for last, want := range map[string][2]string{
		journal.FailureCancelled: {journal.FailureTimeout, "timed out: the run's time of 1h0m0s is up; the workflow returned: the disk is full"},
		"*pq.Error":              {"*pq.Error", "the disk is full"},
	} {
		r := hourly(define(func(c ctx) (string, error) { return step(c, "work") }), time.Hour)
		mustStep(t, r, started())
		due(t, r)
		f := &journal.Failure{Type: last, Message: "the disk is full"}
		mustStep(t, r, journal.Event{Kind: journal.StepFailed, Cmd: 1, Name: "work", Attempt: 1, Time: epoch.Add(time.Hour), Payload: journal.EncodeFailure(f)})
		d := r.m.Take()
		got, err := journal.DecodeFailure(d.Terminal.Payload)
		if err != nil || d.Terminal.Kind != journal.RunFailed || got.Type != want[0] || got.Message != want[1] {
			t.Errorf("after %s: %s with %+v, %v", last, d.Terminal.Kind, got, err)
		}
		if want[0] != last && (got.Cause == nil || got.Cause.Message != "the disk is full") {
			t.Errorf("its cause is %+v", got.Cause)
		}
		r.m.Close()
	}
}

// TestDeadlineThroughGenerations: the next generation has the rest of the time, and one that begins
// too late has none.
func TestDeadlineThroughGenerations(t *testing.T) {
	next := define(func(c ctx) (string, error) {
		if err := workflow.Sleep(c, 40*time.Minute); err != nil {
			return "", err
		}
		return "", workflow.ContinueAsNew(c, workflow.Name[*void, string]("test"), nil, nil)
	})
	r := hourly(next, time.Hour)
	mustStep(t, r, started())
	due(t, r)
	if d := r.m.Take(); d.Continue == nil || d.Continue.Carried != nil {
		t.Fatalf("decision %+v", d)
	}
	info := r.m.Info()
	r.m.Close()
	info.Generation, info.Labels = 2, map[string]string{}
	for begin, want := range map[time.Duration]time.Duration{40 * time.Minute: time.Hour, 90 * time.Minute: 90 * time.Minute} {
		r = &rig{m: replay.New(next, info, journal.New(nil, nil)), said: info.Labels}
		mustStep(t, r, journal.Event{Kind: journal.RunStarted, Time: epoch.Add(begin)})
		due(t, r)
		if d := r.m.Take(); d.Terminal == nil || d.Terminal.Kind != journal.RunFailed || !r.m.Now().Equal(epoch.Add(want)) {
			t.Errorf("begun after %s: decision %+v at %s", begin, d, r.m.Now())
		}
		r.m.Close()
	}
}

// TestOnFailure: a run that fails starts the workflow that its start names, in its last turn; one
// that ends otherwise, or only unwinds, starts nothing.
func TestOnFailure(t *testing.T) {
	ends := func(end func(c ctx) error, cancelled bool) replay.Decision {
		def := define(func(c ctx) (string, error) {
			_, _ = step(c, "work")
			return "", end(c)
		})
		info := replay.Info{
			Run: journal.RunID{7}, Key: "k", Workflow: "test", Version: 1, Queue: "q", Generation: 1, StartAt: epoch,
			Labels: map[string]string{}, Headers: map[string]string{"tenant": "acme"}, OnFailure: "mend",
		}
		r := &rig{m: replay.New(def, info, journal.New(nil, nil)), said: info.Labels}
		defer r.m.Close()
		mustStep(t, r, started())
		if r.m.Take(); cancelled {
			mustStep(t, r, journal.Event{Kind: journal.CancelRequested, Inbox: 1, Time: epoch})
		}
		mustStep(t, r, journal.Event{Kind: journal.StepCompleted, Cmd: 1, Name: "work", Attempt: 1, Time: epoch, Payload: journal.Payload{Data: []byte(`"x"`)}})
		return r.m.Take()
	}
	for name, end := range map[string]func(c ctx) error{
		"completed": func(ctx) error { return nil },
		"continued": func(c ctx) error { return workflow.ContinueAsNew(c, workflow.Name[*void, string]("test"), nil, nil) },
		"cancelled": func(ctx) error { return workflow.ErrCancelled },
	} {
		if d := ends(end, name == "cancelled"); len(d.Starts) > 0 || d.Terminal == nil {
			t.Errorf("%s: started %+v, ended %v", name, d.Starts, d.Terminal)
		}
	}
	for _, cancelled := range []bool{false, true} { // an error of its own fails a cancelled run, too
		d := ends(func(ctx) error { return errors.New("no such price") }, cancelled)
		if d.Terminal == nil || d.Terminal.Kind != journal.RunFailed || len(d.Starts) != 1 {
			t.Fatalf("decision %+v", d)
		}
		st := d.Starts[0]
		if st.Workflow != "mend" || st.Version != 1 || st.Queue != "q" || st.Parent.Policy != journal.CloseAbandon ||
			st.Headers["tenant"] != "acme" || st.OnFailure != "" || st.Timeout != 0 || st.Key != "" {
			t.Errorf("started %+v", st)
		}
		var in workflow.FailedRun
		if err := (journal.JSON{}).Decode(st.Input, &in); err != nil {
			t.Fatal(err)
		}
		if in.Run != (journal.RunID{7}) || in.Key != "k" || in.Workflow != "test" || in.Queue != "q" || in.Failure.Message != "no such price" {
			t.Errorf("with %+v", in)
		}
	}
}

// TestOnFailureIsNotForWrongCode: code that is wrong blocks its run, and nothing is started; nor
// when a machine is closed, whose code returns errors.
func TestOnFailureIsNotForWrongCode(t *testing.T) {
	for name, fn := range map[string]func(c ctx) (string, error){
		"a name of no journal": func(c ctx) (string, error) { return step(c, "") },
		"closed":               func(c ctx) (string, error) { return "", workflow.Sleep(c, time.Hour) },
	} {
		info := replay.Info{Run: journal.RunID{7}, Workflow: "test", Version: 1, Queue: "q", Generation: 1, OnFailure: "mend"}
		m := replay.New(define(fn), info, journal.New(nil, nil))
		ev := started()
		ev.Seq = 1
		err := m.Step(&ev)
		if (err == nil) != (name == "closed") {
			t.Errorf("%s: %v", name, err)
		}
		m.Close()
		if d := m.Take(); len(d.Starts) > 0 || d.Terminal != nil {
			t.Errorf("%s: decision %+v", name, d)
		}
	}
}

// TestHeadersAreInherited: a child has its parent's headers, and its own before them.
func TestHeadersAreInherited(t *testing.T) {
	child := workflow.Name[*void, string]("child")
	def := define(func(c ctx) (string, error) {
		workflow.CallAsync(c, child, nil, nil)
		workflow.CallAsync(c, child, nil, &workflow.ChildOptions{Headers: map[string]string{"user": "bob", "x": "y"}, Timeout: time.Minute, OnFailure: "mend"})
		return approved.Receive(c)
	})
	info := replay.Info{Run: journal.RunID{7}, Workflow: "test", Version: 1, Queue: "q", Generation: 1,
		Headers: map[string]string{"tenant": "acme", "user": "eve"}}
	m := replay.New(def, info, journal.New(nil, nil))
	defer m.Close()
	ev := started()
	ev.Seq = 1
	if err := m.Step(&ev); err != nil {
		t.Fatal(err)
	}
	list := m.Take().Starts
	for i, want := range []map[string]string{{"tenant": "acme", "user": "eve"}, {"tenant": "acme", "user": "bob", "x": "y"}} {
		if diff := cmp.Diff(want, list[i].Headers); diff != "" {
			t.Errorf("child %d (-want +got):\n%s", i, diff)
		}
	}
	if list[0].Timeout != 0 || list[0].OnFailure != "" || list[1].Timeout != time.Minute || list[1].OnFailure != "mend" {
		t.Errorf("children %+v", list)
	}
	if info.Headers["user"] != "eve" {
		t.Error("the headers of the parent were changed")
	}
}
