package replay_test

import (
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/replay"
)

// programsVar is the environment variable that makes TestLanguage run so many programs, with all
// pairs.
const programsVar = "REPRISE_TEST_PROGRAMS"

// TestLanguage runs random programs that use all verbs, in several generations, in a world of their
// own. Whatever the order of events: the machine does what a model says that follows the history
// alone, replays from every prefix react the same and take side effects from the history, signals
// come once and in order, updates get one reply. Of things that can both happen next, both orders
// are tried.
func TestLanguage(t *testing.T) {
	if *seedFlag != 0 {
		checkLanguage(t, *seedFlag, true)
		return
	}
	programs, err := strconv.ParseUint(os.Getenv(programsVar), 10, 64)
	every := err == nil
	if !every {
		programs = 300
	}
	for seed := uint64(1); seed <= programs; seed++ {
		if checkLanguage(t, seed, every); t.Failed() {
			t.Fatalf("replay it with -seed %d", seed)
		}
	}
}

func checkLanguage(t *testing.T, seed uint64, every bool) {
	t.Helper()
	w := newLangWorld(t, seed)
	rng := w.rng(0)
	var order []string
	var pairs []langPair
	for ready := w.ready(); len(ready) > 0; ready = w.ready() {
		what := ready[rng.IntN(len(ready))]
		for _, other := range slices.Compact(ready) {
			if other != what && (every || rng.IntN(60) == 0) {
				pairs = append(pairs, langPair{len(order), other, what})
			}
		}
		order = append(order, what)
		w.happen(what)
	}
	w.finish(1)
	for i, p := range pairs {
		w := newLangWorld(t, seed)
		for _, what := range order[:p.at] {
			w.happen(what)
		}
		w.happen(p.first)
		if slices.Contains(w.ready(), p.second) { // else the first has made the second impossible
			w.happen(p.second)
		}
		rng := w.rng(uint64(i + 1))
		for ready := w.ready(); len(ready) > 0; ready = w.ready() {
			w.happen(ready[rng.IntN(len(ready))])
		}
		if w.finish(7); t.Failed() {
			t.Fatalf("seed %d: %q and then %q at %d", seed, p.first, p.second, p.at)
		}
	}
}

// langPair is the other order of two things that can both happen.
type langPair struct {
	at            int
	first, second string
}

// finish checks what is left when nothing more can happen, and one in stride prefixes of the
// histories.
func (w *langWorld) finish(stride int) {
	w.t.Helper()
	if !w.over {
		w.t.Errorf("seed %d: the run has not ended: %v", w.seed, w.r.m.Waiting())
	}
	for _, log := range w.past {
		for prefix := 1; prefix <= len(log.history); prefix += stride {
			w.again(log, prefix)
		}
		w.again(log, len(log.history))
	}
}

// again replays a prefix of a history and takes the rest as new.
func (w *langWorld) again(log *langLog, prefix int) {
	w.t.Helper()
	r := newLangRig(w.def, log.info)
	defer r.m.Close()
	r.said["salt"] = "replayed "
	for i := range log.history {
		ev := log.history[i]
		apply := r.m.Replay
		if i >= prefix {
			ev.Issued, apply = nil, r.m.Step
		}
		if i == prefix {
			w.live(r.m, log)
		}
		if err := apply(&ev); err != nil {
			w.t.Fatalf("seed %d, generation %d, %d of %d events replayed: event %d %s: %v", w.seed, log.info.Generation, prefix,
				len(log.history), ev.Seq, ev.Kind, err)
		}
		var d replay.Decision
		if i >= prefix-1 {
			d = r.m.Take()
		}
		want, got := log.reactions[i], r.langReaction(&ev, &d)
		if i < prefix {
			checkReplayed(w.t, &d, i == prefix-1 && want.Rest.Finished && i < len(log.history)-1)
			want.Decision, got.Decision = nil, nil
		}
		if diff := cmp.Diff(want, got); diff != "" {
			w.t.Fatalf("seed %d, generation %d, %d of %d events replayed: event %d %s (-first +again):\n%s", w.seed,
				log.info.Generation, prefix, len(log.history), ev.Seq, ev.Kind, diff)
		}
	}
}

// checkReplayed: a replay asks for nothing again, but for an end that is not in the history.
func checkReplayed(t *testing.T, d *replay.Decision, ended bool) {
	t.Helper()
	if n := len(d.Steps) + len(d.CancelSteps) + len(d.DropSteps) + len(d.Starts) + len(d.Messages) + len(d.Replies); n > 0 {
		t.Errorf("a replay decided %v", langDecision(d))
	}
	if ended != (d.Terminal != nil) {
		t.Errorf("the end is to come: %v, decided: %v", ended, d.Terminal)
	}
}

// TestLanguageMutated: histories of random programs that were tampered with are refused or taken,
// but never panic.
func TestLanguageMutated(t *testing.T) {
	for seed := uint64(1); seed <= 100; seed++ {
		w := newLangWorld(t, seed)
		rng := w.rng(0)
		for ready := w.ready(); len(ready) > 0; ready = w.ready() {
			w.happen(ready[rng.IntN(len(ready))])
		}
		for _, log := range w.past {
			r := newLangRig(w.def, log.info)
			mutate(rng, log.history)
			for i := range log.history {
				if r.m.Replay(&log.history[i]) != nil {
					break
				}
			}
			r.m.Close()
		}
	}
}
