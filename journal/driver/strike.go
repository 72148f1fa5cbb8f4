package driver

import (
	"fmt"
	"hash/fnv"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// Strikes are how the journal finds out which run kills its owners. A driver keeps the count in the
// task and changes it in the statement that frees the task, so two reapers cannot count one death
// twice. A commit wipes the strikes of its run out.
//
// A death says that one of the runs that the dead node owned may have killed it. It does not say
// which, and to count it against all of them would take whoever executes a long step into
// quarantine together with the one that kills: both are freed and claimed again in the same
// moments, and neither commits. So the count has two parts.
//
// Up to [SuspectStrikes] a death is counted against all. Whoever has so many is a suspect.
//
// Suspects are tried one at a time: a claim takes one, and the node claims no other one until that
// has committed, or for [TrialTime] and as long as the acquittal takes ([ClaimRequest.Suspects]).
// If the node dies meanwhile, the death is counted against the suspect alone ([StrikesAfter]): not
// against those that are no suspects, because there is one, and not against anybody if there are
// two, because nothing tells which. So a run that kills its node soon after it was claimed collects
// strikes whenever it is tried, and is quarantined after [QuarantineStrikes] deaths, the first
// [SuspectStrikes] of which it shares. Several of them are found one after the other.
//
// A suspect whose node lives for TrialTime is acquitted: its owner commits, although there is
// nothing to write but that. The time counts from its first attempt of a step: one that waits for a
// slot of its node has shown nothing. The node may have claimed another suspect by then, and its
// death is counted against neither. So a long step is never quarantined for what others do, however
// many they are: the deaths that others cause while it is tried would have to come in all of its
// seven trials, each within TrialTime, and by runs that are no suspects yet, of which each makes
// itself one by its third death. What the acquittal costs is that a run which always lives for
// longer than TrialTime before it kills its node is not found. Others work in that time.
//
// A process may also be killed by somebody else, again and again. A store of one process, where
// nobody else can try suspects, finds that out: after a death that was counted against a suspect,
// no suspect is tried until its wait is over ([StrikeWait]), which is longer than a trial in the
// end. A death in that time, without a suspect, shows that the process dies of something else, and
// takes a strike back from each suspect ([StrikesForgiven]). So who kills the process at intervals
// that are shorter than a wait takes back as many strikes as he causes, and at longer ones suspects
// are acquitted. Of many processes a store does not know who died of what, and does not take
// strikes back.

// SuspectStrikes is how many deaths make a run a suspect. Below, its task is claimed like any
// other: a node that dies once, with thousands of runs, must not make each of them wait for its
// trial.
const SuspectStrikes = 3

// QuarantineStrikes is how many deaths, without a commit in between, quarantine a run.
const QuarantineStrikes = 10

// TrialTime is how long a node owns a suspect that commits nothing before it claims another one,
// and after which the suspect is acquitted. It is shorter than the last two waits of a suspect.
const TrialTime = 30 * time.Second

// A suspect waits before it can be claimed again: BackoffMin after it has become one, and each
// further strike doubles the wait, at most to BackoffMax. So a run that kills every node that
// touches it leaves the cluster time to start nodes again between two deaths.
const (
	BackoffMin = time.Second
	BackoffMax = time.Minute
)

// backoffSpread is the part of its wait by which one suspect may wait longer than another. Those
// that were freed together are then tried in an order that is no other's.
const backoffSpread = 4

// StrikesAfter returns the strikes of a task whose owner has died. suspects is how many suspects
// the owner had.
func StrikesAfter(strikes, suspects int) int {
	if suspects == 0 || suspects == 1 && strikes >= SuspectStrikes {
		return strikes + 1
	}
	return strikes
}

// StrikesForgiven returns the strikes of a task that nobody owned when a process died without a
// suspect. Who is a suspect remains one.
func StrikesForgiven(strikes int) int {
	if strikes > SuspectStrikes {
		return strikes - 1
	}
	return strikes
}

// StrikeDelay returns how long a task stays invisible after that many strikes, at least.
func StrikeDelay(strikes int) time.Duration {
	if strikes < SuspectStrikes {
		return 0
	}
	return min(BackoffMax, BackoffMin<<(strikes-SuspectStrikes))
}

// StrikeWait returns how long the task of this run stays invisible: StrikeDelay, and up to a
// quarter more.
func StrikeWait(run journal.RunID, strikes int) time.Duration {
	delay := StrikeDelay(strikes)
	h := fnv.New32a()
	_, _ = h.Write(run[:])
	_, _ = h.Write([]byte{byte(strikes)})
	return delay + delay/backoffSpread*time.Duration(h.Sum32()%1000)/1000
}

// StruckState is the state of a task whose owner has died, with the strikes that it has now. A
// pause outlives the owner (J11); what has become of the run otherwise shows when it is resumed.
func StruckState(s journal.TaskState, strikes int) journal.TaskState {
	switch {
	case s.OnHold():
		return journal.Paused
	case strikes >= QuarantineStrikes:
		return journal.Quarantined
	}
	return journal.Ready
}

// QuarantineProblem returns what operators read of a run that is quarantined.
func QuarantineProblem(strikes int, last journal.NodeID) string {
	return fmt.Sprintf("its owners died before the run committed anything, which was counted %d times, the last time on node %d",
		strikes, last)
}
