// Package bulk does something to all runs that a filter selects: cancel every open order of a shop
// that has closed, delete what ended a year ago. The job is a durable run itself, so it goes on
// after a crash, can be watched, paused and aborted, and is in the store with what came of it.
//
//	job := bulk.Job{Verb: bulk.Cancel, Where: `workflow = "order" and shop = "7"`, Reason: "shop 7 has closed", Rate: 200}
//	runs, capped, err := bulk.Count(ctx, client, job) // a dry run
//	run, err := bulk.Start(ctx, client, job, nil)
//	progress, err := bulk.ProgressOf(ctx, client, run.ID()) // now and then
//	progress, err = run.Result(ctx)
//
// A node executes jobs after [Handle]. The command reprise bulk needs no such node: it executes its
// job itself while it waits.
//
// # Which runs
//
// A job acts on the runs that are as its filter says when the job comes to them, that were started
// no later than the job, and that its verb can be for: closed ones for [Delete], those that did not
// complete for [Retry], all for [SetLabels], [Reset], [Fork], [Edit] and [Skip], open ones for the
// others. It never acts on runs of the runtime's own workflows: jobs, schedules, the shapes of
// flows. It goes through the runs once, newest first, a page at a time, so what happens to a run
// behind it does not bring the run back. As long as nobody else changes runs, [Count] is what the
// job then acts on.
//
// A job of Job.FailuresOf acts on the runs that failed in another job instead, if its verb can be
// for them. [Outcomes] tells which these are, and what came of each run of a job: it reads the
// history of the job, so it costs a job nothing, and holds one generation of it in memory.
//
// # Once
//
// A page of ids is one step, acting on it is the next, and a page whose node has died is repeated.
// A node that was declared dead, and does not know it, may even act beside its successor.
// Nevertheless each run is acted on once, whatever an operator makes of the run in between: a run
// that somebody has resumed, retried or given another label behind the job stays so.
//
// Signals and requests to cancel have a key that is made of the job. Of all other verbs the audit
// has an entry from the transaction that acted (J12), with the job in its reason. The store looks
// for that entry under the lock of the run before it changes anything, and a page begins by looking
// for entries of its own job, to leave out the runs that it finds. A run at which the verb had
// nothing to change, because it was paused already, has no entry: until its page is done, the job
// may come to it again.
//
// # Pause and abort
//
// A job is a run: Client.Pause and Client.Resume hold it between two pages, or at once with
// CancelSteps, and Client.Cancel ends it when the calls that are under way have returned. What it
// has done until then is in [ProgressOf].
package bulk
