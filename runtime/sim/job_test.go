package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/runtime/bulk"
)

// jobPlan is a bulk job over all runs that there are. Its nodes die like those of other runs.
type jobPlan struct {
	At   time.Duration `json:"at"`
	Verb bulk.Verb     `json:"verb"`
}

// jobs adds bulk jobs to a plan. They come from a generator of their own, as pauses do.
func (p *plan) jobs() {
	m := &maker{Rand: rand.New(rand.NewPCG(p.Seed, 0xb01c))}
	if m.IntN(6) > 0 {
		return
	}
	for range 1 + m.IntN(2) {
		verbs := []bulk.Verb{bulk.SetLabels, bulk.Signal, bulk.Retry, bulk.SetPriority, bulk.Resume, bulk.Resume} // a resume leaves a row each time
		p.Jobs = append(p.Jobs, jobPlan{At: m.between(0, 8*time.Second), Verb: verbs[m.IntN(len(verbs))]})
	}
}

// jobsWithin is how long a job may take when nothing is wrong any more.
const jobsWithin = 6 * time.Second

// working is a bulk job as the world outside sees it.
type working struct {
	plan  *jobPlan
	id    journal.RunID
	began time.Duration
	epoch int

	done     bool // its result was heard
	progress bulk.Progress
}

// job is what the n-th job of a plan does: to runs without a parent if it opens some again, since what
// a parent has heard of a child is told once.
func (p *jobPlan) job(n int) bulk.Job {
	j := bulk.Job{Verb: p.Verb, All: true, Reason: "by plan", Rate: 20, Concurrency: 2}
	switch p.Verb {
	case bulk.SetLabels:
		j.Labels = map[string]string{labelPrefix + fmt.Sprint("of job ", n): "set"}
	case bulk.Signal:
		j.Signal, j.Payload = signalNames[n%len(signalNames)], json.RawMessage(fmt.Sprintf("%q", jobPayload(n)))
	case bulk.SetPriority:
		j.Priority = journal.PriorityMin + 1
	case bulk.Retry:
		j.All, j.Where = false, `key starts with "run-"`
	}
	return j
}

// jobPrefix begins what jobs send.
const jobPrefix = "job "

func jobPayload(n int) string { return fmt.Sprint(jobPrefix, n) }

// work starts a job and waits for what it has done.
func (w *world) work(p *jobPlan, n int) {
	time.Sleep(p.At)
	client := w.clients[0].client
	for w.ctx.Err() == nil {
		at := &working{plan: p, began: w.elapsed(), epoch: w.now()}
		ctx, cancel := context.WithTimeout(w.ctx, callMax)
		run, err := bulk.Start(ctx, client, p.job(n), &bulk.Options{Key: fmt.Sprintf("job %d", n)})
		late := ctx.Err() != nil
		cancel()
		if err != nil && !late && w.now() == at.epoch {
			w.breaks("client", "start of job %d: %v", n, err)
			return
		}
		if err != nil {
			continue
		}
		at.id = run.ID()
		w.mu.Lock()
		w.working = append(w.working, at)
		w.mu.Unlock()
		at.progress, err = run.Result(w.ctx)
		if errors.Is(err, journal.ErrNotFound) && w.now() > at.epoch { // it is lost with the database's last moments
			continue
		}
		at.done = err == nil
		if err != nil && w.ctx.Err() == nil {
			w.breaks("jobs", "job %d: %v", n, err)
		}
		return
	}
}

// checkJobs: a job acts on each run once, whatever happens to its nodes, and on all that are as it
// says from before its start on. What it says that it has done is what the audit and the inboxes
// have. Of a database that has gone back there is no such promise.
func checkJobs(f *finder) {
	for _, at := range f.working {
		if f.epoch > 0 {
			return
		}
		if !at.done {
			f.breaks("job %s has not told what it has done", at.id)
			continue
		}
		acted := 0
		for _, r := range f.runs {
			n := f.actedOn(at, r)
			acted += n
			if n > 1 {
				f.breaks("%s: job %s, %s, has acted %d times", r, at.id, at.plan.Verb, n)
			}
			// A run that closes while the job lists runs may be on no page; one that is for the verb
			// whatever happens is on one.
			if n == 0 && at.plan.Verb == bulk.SetLabels && r.Run.CreatedAt.Before(f.jobOf(at).Run.CreatedAt) {
				f.breaks("%s: job %s, %s, has passed it over", r, at.id, at.plan.Verb)
			}
		}
		if done := at.progress.Done; at.plan.Verb == bulk.Signal && done < acted || at.plan.Verb == bulk.SetLabels && done != acted {
			f.breaks("job %s, %s: it says %+v, and has acted on %d runs", at.id, at.plan.Verb, at.progress, acted)
		}
	}
}

// actedOn is how often a job has acted on a run.
func (f *finder) actedOn(at *working, r *settled) (n int) {
	mark := fmt.Sprintf("bulk job %s", at.id)
	if at.plan.Verb == bulk.Signal {
		for _, m := range r.Messages[min(int(r.copied()), len(r.Messages)):] {
			if m.Key == mark {
				n++
			}
		}
		return n
	}
	for _, e := range f.audit {
		if e.Run == r.id && e.Verb == string(at.plan.Verb) && strings.HasPrefix(e.Reason, mark) {
			n++
		}
	}
	return n
}

// readAudit keeps the whole audit.
func (w *world) readAudit() {
	for page := (journal.AuditFilter{Limit: journal.ListMax}); ; {
		list, err := w.db.Audit(context.Background(), page)
		if err != nil {
			w.breaks("audit", "the audit cannot be read: %v", err)
		}
		if w.audit = append(w.audit, list...); len(list) == 0 {
			return
		}
		page.Before = list[len(list)-1].Number
	}
}

// jobOf returns what the database holds of a job.
func (f *finder) jobOf(at *working) memory.RunSnapshot { return f.kept(at.id) }
