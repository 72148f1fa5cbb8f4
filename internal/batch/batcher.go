package batch

import (
	"sync"
	"time"

	"github.com/reprise-run/reprise/internal/pool"
)

// SizeMax bounds a batch. A larger transaction is hardly cheaper per member, and all of its members
// wait for the last one.
const SizeMax = 500

// Batcher is group commit. It writes one batch at a time; calls that arrive while a batch is being
// written form the next one. It is generic because commits, starts, messages and loads are batched
// the same way; it never looks inside a call.
//
// # State
//
// busy says that exactly one goroutine, the writer, is responsible for this Batcher. waiting holds
// the calls that are in no batch yet, oldest first, and later those of them that can wait, see
// [Batcher.SetPatient]. Whenever mu is free,
//
//	busy, or waiting and later are empty                                               (I)
//
// enter adds a call and, if nobody is the writer, makes its caller responsible: the caller hands
// the role to a goroutine of the pool (Submit) or fills it for one batch (SubmitInline). The writer
// gives the role up in take or more, in the same critical section in which it has seen that nothing
// waits. A call that is added a moment earlier is seen by the writer; a call that is added a moment
// later finds busy false and has a writer of its own. So no call is left behind, and no wake-up can
// be lost, because nobody ever sleeps here.
//
// # Slow writes
//
// The next batch does not wait for ever for a write that hangs: a large history is on its way, or a
// row is held by somebody else. When calls have waited for [patience], the writer is relieved:
// another one is responsible from then on. A relieved writer answers its batch when its write has
// ended, and is gone. At most [relievedMax] are at it; beyond that calls wait, as the store is slow
// for everybody then. turn tells a writer whether it is still responsible: it grows with each batch
// that is taken and each relief, and a writer knows the turn of its batch.
//
// One timer is set while calls wait behind a write. It looks whether the write of its last look is
// still under way, so a writer is relieved after one to two times patience.
//
// # Calls that others shall not wait for
//
// A store may say of a member that it would have to wait for somebody else: see [Batcher.SetAside].
// A call may be large, or take too long: see [Batcher.SetSize] and [Batcher.SetDivide].
//
// # When a batch is closed
//
// A batch is closed when the writer takes it, which is when the batch before it has been answered,
// or its writer relieved. No timer closes a batch, and it has no target size. On an idle Batcher a
// call is written at once, alone: nobody is made to wait for company that may not come. Under load
// a batch holds what arrived during one write, so its size is the arrival rate times the duration
// of a write, up to max. Throughput therefore grows with load without a setting, and latency is at
// most two writes as long as max is not reached.
//
// # Order
//
// Calls are added under mu and taken from the front. The write of a call begins only after all
// earlier calls of the same Batcher have their answers, except those in the batches of relieved
// writers, those that can wait, and those that are written beside the batches. Whoever needs an
// order waits for the answer to a call before it submits the next one, as an actor does with the
// commits of its run (J3).
//
// # Inline submission
//
// A caller who waits for the answer anyway may be the writer. On an idle node that saves handing
// the call to another goroutine and the answer back, two switches that together cost as much as a
// fast store does. Such a caller writes one batch: its own call, and those that were added before
// the batch was taken. If more calls wait by then, it hands the role to a pool goroutine, because a
// caller must not go on writing for others after it has its answer. SubmitInline blocks for one
// write, so it is not for actors.
//
// # Errors, repetition, cancellation
//
// A Batcher knows no errors: write answers each member with a value, and may answer some with an
// error and others without (J2). Two rules make that enough.
//
// While the store is unavailable, write repeats the closed batch as it is and does not return. That
// is safe because each member names itself, a commit by fence and turn, a start by its run id, a
// message by its key, so the store recognises a member that an earlier try wrote (J4). Later calls
// wait behind the batch, or behind those of relieved writers. They lose nothing: they need the same
// store.
//
// A caller who gives up does not take its call back. The call may be in a transaction at that
// moment, so whether it takes effect would be unknown in any case. The caller stops waiting, the
// call is written with the others, and done is called with an answer that nobody reads. Only when
// every caller of a batch has given up does the repetition end: see [CallShared].
//
// # The pool
//
// A job that writes batches says ExpectIdle between the end of a write and its answers. What the
// answers cause, the next turn of a run for instance, then waits for this worker instead of waking
// another one: on a quiet node a step's body, its turn, the commit and the answer share one
// goroutine. It says ClearIdle before it blocks in another write.
//
// # Memory
//
// The writer's batch and waiting swap their slices, and a writer leaves its own to the next one, so
// a steady load allocates nothing. write must not keep the slice it gets. Slices that one unusual
// crowd has made large are dropped.
type Batcher[In, Out any] struct {
	max   int
	write func(batch []In) []Out // blocks; answers each member; must not keep batch and must not panic
	spawn func(pool.Job)         // runs a job that may block

	mu      sync.Mutex
	waiting calls[In, Out]
	later   calls[In, Out]
	spare   calls[In, Out] // empty: memory for the next writer's batch
	busy    bool
	idle    sync.WaitGroup // counts the writer and those that were relieved

	held    func(Out) bool    // nil: nothing is set aside
	aside   *Batcher[In, Out] // of those calls, and its own
	size    func(In) int      // nil: all calls are small
	patient func(In) bool     // nil: no call can wait
	slow    func(Out) bool    // nil: nothing is divided

	bytes                 int // of waiting
	large, parts, slowest lane
	settle                func(w *pool.Worker, batch *calls[In, Out], slow int) // is answer

	turn     uint64 // of the writer's batch
	writing  bool   // whether the writer has taken it; else it is about to take one
	relieved int    // writers that were relieved and still write
	watch    *time.Timer
	watching bool   // whether watch is set
	watched  uint64 // the turn at the last look
}

// New returns a Batcher that makes batches of at most max calls. write gets a batch and returns one
// answer for each member, in the same order.
func New[In, Out any](max int, write func([]In) []Out) *Batcher[In, Out] {
	b := &Batcher[In, Out]{
		max: max, write: write, spawn: func(job pool.Job) { go job.Run(nil) },
		large: lane{max: largeMax}, parts: lane{max: partsMax}, slowest: lane{max: slowMax},
	}
	b.settle = b.answer
	return b
}

// RunOn has batches written by jobs of a pool instead of goroutines of their own. It must be called
// before anything is submitted.
func (b *Batcher[In, Out]) RunOn(do func(pool.Job)) { b.spawn = do }

// SetAside says which answers mean that somebody else holds what the call needs. Such a call is not
// answered. It goes aside, to a Batcher of those alone, and is written again there until it has
// another answer: a few times a second, and in nobody's way. It must be called before anything is
// submitted.
func (b *Batcher[In, Out]) SetAside(held func(Out) bool) {
	b.held, b.aside = held, New(b.max, b.write)
	b.aside.held, b.aside.aside, b.aside.size, b.aside.slow = held, b.aside, b.size, b.slow
}

// again sets a call aside. The Batcher that it was submitted to is not idle until it has an answer.
func (b *Batcher[In, Out]) again(in In, done func(Out)) {
	if b.aside != b {
		b.idle.Add(1)
		answer := done
		done = func(out Out) { answer(out); b.idle.Done() }
	}
	time.AfterFunc(asidePause, func() { b.aside.Submit(in, done) })
}

// Submit adds a call and never blocks. done is called once, on the goroutine that writes, and must
// be quick.
func (b *Batcher[In, Out]) Submit(in In, done func(Out)) {
	if b.enter(in, done) {
		b.spawn(b)
	}
}

// SubmitInline is Submit for a caller who waits for the answer anyway. If the Batcher is idle, the
// call is written and done is called on the caller's goroutine before SubmitInline returns.
func (b *Batcher[In, Out]) SubmitInline(in In, done func(Out)) {
	if !b.enter(in, done) {
		return
	}
	var batch calls[In, Out]
	b.take(&batch)
	b.answer(nil, &batch, 0)
	if b.more(&batch) {
		b.spawn(b)
	}
}

// Wait returns when everything submitted before has been answered.
func (b *Batcher[In, Out]) Wait() { b.idle.Wait() }

// enter adds a call. If it returns true, the caller is the writer now. A large call never waits
// among the others.
func (b *Batcher[In, Out]) enter(in In, done func(Out)) bool {
	size := 0
	if b.size != nil {
		if size = b.size(in); size >= largeBytes {
			b.beside(&part[In, Out]{b: b, calls: calls[In, Out]{in: []In{in}, done: []func(Out){done}}})
			return false
		}
	}
	patient := b.patient != nil && b.patient(in)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.add(in, done, size, patient)
	if b.busy {
		b.setWatch()
		return false
	}
	b.busy = true
	b.idle.Add(1)
	return true
}

// Run is the writer's job: it writes batches until nothing waits. It is called by the pool.
func (b *Batcher[In, Out]) Run(w *pool.Worker) {
	var batch calls[In, Out]
	for b.take(&batch) {
		w.ClearIdle()
		b.answer(w, &batch, 0)
	}
}

// answer writes a batch and answers each member. It expects that nothing more waits, which is
// nearly always so on a node with little to do; Run takes the promise back otherwise. slow is how
// often the batch, of one call, was written alone before.
func (b *Batcher[In, Out]) answer(w *pool.Worker, batch *calls[In, Out], slow int) {
	out := b.write(batch.in)
	w.ExpectIdle()
	var late calls[In, Out]
	for i := range out {
		switch {
		case b.held != nil && b.held(out[i]):
			b.again(batch.in[i], batch.done[i])
		case b.slow != nil && b.slow(out[i]):
			late.in, late.done = append(late.in, batch.in[i]), append(late.done, batch.done[i])
		default:
			batch.done[i](out[i])
		}
	}
	if len(late.in) > 0 {
		b.divide(late, len(batch.in), slow)
	}
}

// take replaces an answered batch by the next one. If nothing waits, or another writer has taken
// over, it returns false, and the caller is not the writer any more.
func (b *Batcher[In, Out]) take(batch *calls[In, Out]) bool {
	batch.clear(2 * b.max)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.wasRelieved(batch) {
		return false
	}
	if cap(batch.in) == 0 { // the writer's first
		*batch, b.spare = b.spare, calls[In, Out]{}
	}
	b.fill(batch)
	if len(batch.in) > 0 {
		b.turn++
		batch.turn, b.writing = b.turn, true
		return true
	}
	b.release(batch)
	return false
}

// more clears an answered batch and tells whether calls wait. If not, the caller is not the writer
// any more.
func (b *Batcher[In, Out]) more(batch *calls[In, Out]) bool {
	batch.clear(2 * b.max)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.wasRelieved(batch) {
		return false
	}
	if b.waits() {
		b.writing = false
		return true
	}
	b.release(batch)
	return false
}

// release ends the writer's role. Its batch, which is empty, is left to the next writer. Nothing
// waits, and the caller holds the lock.
func (b *Batcher[In, Out]) release(batch *calls[In, Out]) {
	b.spare = *batch
	b.busy, b.writing = false, false
	b.idle.Done()
}
