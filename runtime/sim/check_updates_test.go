package sim

import (
	"slices"
	"strconv"

	"github.com/reprise-run/reprise/journal"
)

// checkUpdates: every call of an update has a definite answer. One that was answered took effect
// exactly once, one that was rejected has left no event, one that was aborted was accepted by a
// generation that is over, and no other took effect.
func checkUpdates(f *finder) {
	for _, r := range f.runs {
		took, known := r.took(f)
		for id, n := range took {
			if n != 1 {
				f.breaks("%s: update %s took effect %d times", r, id, n)
			}
		}
		received := map[string]bool{}
		for ev := range r.own() {
			if ev.Kind == journal.UpdateReceived {
				received[callOf(&r.Messages[ev.Inbox-1])] = true
			}
		}
		for _, a := range r.calls {
			effect := took[a.ID] > 0
			switch {
			case r.wentBack() && a.how != answerNone && !(a.how == answerRejected && received[a.ID]):
				// What a branch has answered says nothing of what the lineage does with it: it may have come
				// again, and be answered anew, or be left out. That it comes again is checked with the rewind.
			case a.how == answerNone:
				f.breaks("%s: update %s was not answered", r, a.ID)
			case a.how == answerDone && known && !effect:
				f.breaks("%s: update %s was answered with %q and took no effect", r, a.ID, a.answer)
			case a.how != answerDone && effect:
				f.breaks("%s: update %s took effect, its caller heard %q", r, a.ID, a.how)
			case a.how == answerRejected && received[a.ID]:
				f.breaks("%s: update %s was rejected and is in the history", r, a.ID)
			case a.how == answerAborted && r.Run.Generation == 1:
				f.breaks("%s: update %s was aborted by a continue-as-new that never was", r, a.ID)
			case !a.may(r.mayBeCancelled(f)):
				f.breaks("%s: the answer to update %s, %s, is %q", r, a.ID, a.Do, a.how)
			}
		}
	}
}

// may tells whether the answer is one that the plan allows.
func (a *answered) may(cancelled bool) bool {
	if a.how == answerClosed || a.how == answerAborted && a.Do != callNobody && a.Do != callReject {
		return true
	}
	switch a.Do {
	case callPlain:
		return a.how == answerDone
	case callFail:
		return a.how == answerFailed
	case callReject, callNobody:
		return a.how == answerRejected
	}
	return a.how == answerDone || a.how == answerFailed && cancelled
}

// took counts the updates that took effect, as the run's program knows. known is false if it was
// not asked.
func (s *settled) took(f *finder) (n map[string]int, known bool) {
	n = map[string]int{}
	if !s.Run.Status.Closed() || s.wasNotAsked() || s.Run.Terminal == nil {
		return n, false
	}
	out, err := outcomeOf(s.Run.Terminal)
	if err != nil {
		f.breaks("%s: what it came to cannot be read: %v", s, err)
		return n, false
	}
	for _, id := range out.Took {
		n[id]++
	}
	var shown []string
	if p, ok := s.Run.FindPublished("took"); ok {
		if err := (journal.JSON{}).Decode(p, &shown); err != nil {
			f.breaks("%s: what it has published cannot be read: %v", s, err)
		}
	}
	if !slices.Equal(shown, out.Took) && !(s.wentBack() && len(out.Took) == 0) { // what a branch has shown stays
		f.breaks("%s: it has published that updates %v took effect, and these did: %v", s, shown, out.Took)
	}
	if labels := s.ownLabels(); len(out.Took) > 0 && labels["took"] != strconv.Itoa(len(out.Took)) || len(labels) > 1 {
		f.breaks("%s: its labels are %v, and %d updates took effect", s, s.Run.Labels, len(out.Took))
	}
	return n, true
}

// mayBeCancelled tells whether somebody asked the run to end.
func (s *settled) mayBeCancelled(f *finder) bool {
	if s.cancels || f.tape.cancels[s.id] || s.Run.Timeout > 0 {
		return true
	}
	if of := s.ancestors(); len(of) > 1 { // its copied events may have the request
		return of[1].mayBeCancelled(f)
	}
	if s.Run.Parent == nil {
		return false
	}
	parent := f.left(s.Run.Parent.Run)
	return parent != nil && (s.Run.Parent.Policy == journal.CloseCancel && parent.Run.Status.Closed() ||
		s.Run.Parent.Policy != journal.CloseAbandon && parent.wentBack())
}
