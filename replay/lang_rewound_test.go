package replay_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/replay/workflow"
)

// TestLanguageRewound: a prefix of the history of a random program replays clean in a generation
// that a retry or reset has made of it, and in one that was made of that, and in forks (J13). The code sees the
// same, random numbers and ids of children among it, and waits for the same. Answers to what the
// prefix has asked for are taken, whichever generation has asked.
func TestLanguageRewound(t *testing.T) {
	points := 0
	for seed := uint64(1); seed <= 130 && !t.Failed(); seed++ {
		w := newLangWorld(t, seed)
		rng := w.rng(7)
		for ready := w.ready(); len(ready) > 0; ready = w.ready() {
			w.happen(ready[rng.IntN(len(ready))])
		}
		for _, log := range w.past {
			for seq := 1; seq < len(log.history); seq += 1 + rng.IntN(3) {
				if log.reactions[seq-1].Rest.Finished {
					continue // code that has returned goes on with nothing
				}
				first := log.rewound(seq, false)
				w.again(first, seq)
				first.answers(w)
				earlier := 1 + rng.IntN(seq)
				second := first.rewound(earlier, true)
				w.again(second, earlier)
				second.answers(w)
				fork := first.forked(earlier, 77)
				w.again(fork, earlier)
				fork.answers(w)
				fork = fork.forked(1, 78)
				w.again(fork, 1)
				fork.answers(w)
				points += 4
			}
		}
	}
	if points < 4000 {
		t.Errorf("only %d points were tried", points)
	}
}

// rewound is the log of a generation that begins with seq events of this one.
func (l *langLog) rewound(seq int, again bool) *langLog {
	cmds := journal.Cmd(0)
	for i := range l.history[:seq] {
		cmds += journal.Cmd(len(l.history[i].Issued))
	}
	info := l.info
	info.Rewound = info.Rewound.After(info.Generation, journal.Seq(seq), cmds, info.InboxSeen, again)
	info.Generation, info.InboxSeen = info.Generation+1, info.InboxSeen+3
	next := &langLog{info: info, events: l.events, history: l.history[:seq], reactions: slices.Clone(l.reactions[:seq])}
	for i := range next.reactions { // as if messages behind the point were left out
		next.reactions[i].Rest.Inbox = max(next.reactions[i].Rest.Inbox, info.InboxSeen)
	}
	return next
}

// forked is the log of a fork that begins with seq events of this log.
func (l *langLog) forked(seq int, id byte) *langLog {
	next := l.rewound(seq, true)
	was := journal.Run{ID: l.info.Run, Key: l.info.Key, Version: l.info.Version, Queue: l.info.Queue, StartAt: l.info.StartAt, Parent: l.info.Parent}
	next.info.Rewound.ForkOf(&was)
	next.info.Run, next.info.Key, next.info.Version, next.info.Queue, next.info.Parent = journal.RunID{id}, "fork", 9, "fork", nil
	next.info.StartAt = next.info.StartAt.Add(time.Hour)
	return next
}

// answers checks which answers a machine takes that has replayed the log: those that name the
// generation which has issued the command.
func (l *langLog) answers(w *langWorld) {
	w.t.Helper()
	r := newLangRig(w.def, l.info)
	defer r.m.Close()
	r.said["salt"] = "replayed "
	cmd := journal.Cmd(0)
	for i := range l.history {
		if err := r.m.Replay(&l.history[i]); err != nil {
			w.t.Fatal(err)
		}
		cmd += journal.Cmd(len(l.history[i].Issued))
	}
	for ; cmd > 0; cmd-- {
		issuer := l.info.Rewound.Issuer(l.info.Generation, cmd)
		if issuer >= l.info.Generation {
			w.t.Fatalf("command %d of the kept events has the generation %d", cmd, issuer)
		}
		for g := journal.Generation(1); g <= l.info.Generation; g++ {
			msg := journal.Message{Kind: journal.MessageChildCompleted, Cmd: cmd, Generation: g}
			if ev, _ := r.m.Offer(&msg, w.now); (ev.Cmd == cmd) != (g == issuer) {
				w.t.Fatalf("generation %d, made of %+v, takes the answer of generation %d to command %d: %v", l.info.Generation, l.info.Rewound, g, cmd, ev.Cmd == cmd)
			}
		}
	}
}

// TestIdempotencyKeyRewound: a step that a retry runs again has the key that it had, one that a
// reset runs again has not, and steps that the new generation asks for have keys of its own.
func TestIdempotencyKeyRewound(t *testing.T) {
	run := journal.RunID{1}
	key := func(r *journal.Rewound, g journal.Generation, cmd journal.Cmd) string {
		sc := replay.StepContext{Info: &replay.Info{Run: run, Generation: g, Rewound: r}, Cmd: cmd}
		return sc.IdempotencyKey()[len(run.String()):]
	}
	var none *journal.Rewound
	retry := none.After(1, 4, 3, 0, false)
	reset := none.After(1, 4, 3, 0, true)
	retried := reset.After(2, 5, 4, 0, false)
	anew := reset.After(2, 0, 0, 0, true)
	for _, c := range []struct {
		r    *journal.Rewound
		g    journal.Generation
		cmd  journal.Cmd
		want string
	}{
		{none, 1, 3, "/1/3"}, {retry, 2, 3, "/1/3"}, {retry, 2, 4, "/2/4"}, {reset, 2, 3, "/2/3"}, {reset, 2, 4, "/2/4"},
		{retried, 3, 3, "/2/3"}, {retried, 3, 4, "/2/4"}, {retried, 3, 5, "/3/5"}, {anew, 3, 1, "/3/1"},
	} {
		if got := key(c.r, c.g, c.cmd); got != c.want {
			t.Errorf("generation %d made of %s, command %d: key %s, want %s", c.g, fmt.Sprintf("%+v", c.r), c.cmd, got, c.want)
		}
	}
}

// TestInfoRewound: code goes on to see the generation that its first event was written in.
func TestInfoRewound(t *testing.T) {
	seen := func(g journal.Generation, r *journal.Rewound) string {
		var got string
		def := &replay.Definition{Name: "info", Version: 1, Run: func(sc *replay.Scope, _ journal.Payload) (journal.Payload, error) {
			i := sc.Env().Info()
			got = fmt.Sprint(i.Generation, i.InboxSeen, i.Rewound)
			return journal.Payload{}, nil
		}}
		m := replay.New(def, replay.Info{Run: journal.RunID{1}, Workflow: "info", Version: 1, Generation: g, InboxSeen: 7, Rewound: r}, journal.New(nil, nil))
		defer m.Close()
		ev := journal.Event{Seq: 1, Kind: journal.RunStarted, Time: epoch}
		if err := m.Step(&ev); err != nil {
			t.Fatal(err)
		}
		return got
	}
	var none *journal.Rewound
	for want, got := range map[string]string{
		"2 7 <nil>": seen(2, nil), "2 3 <nil>": seen(4, none.After(2, 1, 0, 3, true).After(3, 1, 0, 5, true)), "3 7 <nil>": seen(3, none.After(2, 0, 0, 3, true)),
	} {
		if got != want {
			t.Errorf("the code sees %s, want %s", got, want)
		}
	}
}

// TestInfoForked: code sees the run of which its events are, and the fork from the first event on
// that is the fork's own, in a fork of a fork too.
func TestInfoForked(t *testing.T) {
	var seen []string
	def := workflow.Define("info", 1, func(ctx workflow.Context, _ struct{}) (int, error) {
		for {
			i := ctx.Info()
			seen = append(seen, fmt.Sprintln(i.Run[0], i.Key, i.Version, i.Queue, i.StartAt.Sub(epoch), i.Deadline.Sub(i.StartAt), i.Parent != nil, i.Generation, i.Rewound))
			if _, err := workflow.Step(ctx, "s", func(context.Context) (int, error) { return 1, nil }, nil); err != nil {
				return 0, err
			}
		}
	})
	run := journal.Run{ID: journal.RunID{1}, Key: "first", Version: 1, Queue: "a", StartAt: epoch, Parent: &journal.Parent{Run: journal.RunID{9}}, Generation: 1}
	r := run.Rewound.After(1, 1, 1, 0, true)
	r.ForkOf(&run)
	fork := journal.Run{ID: journal.RunID{2}, Key: "fork", Version: 2, Queue: "b", StartAt: epoch.Add(time.Hour), Generation: 2, Rewound: r}
	r = r.After(2, 2, 2, 0, true)
	r.ForkOf(&fork)
	second := replay.Info{Run: journal.RunID{3}, Version: 1, Queue: "c", StartAt: epoch.Add(2 * time.Hour), Deadline: epoch.Add(2*time.Hour + time.Minute), Generation: 3, Rewound: r}
	m := replay.New(def, second, journal.New(nil, nil))
	defer m.Close()
	for seq := journal.Seq(1); seq <= 3; seq++ {
		ev := journal.Event{Seq: seq, Kind: journal.StepCompleted, Cmd: journal.Cmd(seq - 1), Name: "s", Attempt: 1, Time: epoch.Add(3 * time.Hour), Payload: journal.Payload{Data: []byte("1")}}
		if seq == 1 {
			ev = journal.Event{Seq: 1, Kind: journal.RunStarted, Time: epoch}
		}
		if err := m.Step(&ev); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"1 first 1 a 0s 1m0s true 1 <nil>", "2 fork 2 b 1h0m0s 1m0s false 1 <nil>", "3 1 c 2h0m0s 1m0s false 1 <nil>"}
	for i := range want {
		if i >= len(seen) || strings.Join(strings.Fields(seen[i]), " ") != want[i] {
			t.Errorf("the code sees %q, want %q", seen, want)
			break
		}
	}
}
