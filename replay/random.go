package replay

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"

	"github.com/google/uuid"

	"github.com/reprise-run/reprise/internal/callsite"
	"github.com/reprise-run/reprise/journal"
)

// random has the run's generators, which are made when code first draws. They differ in their
// purpose, so that a change of how many numbers code draws does not change its ids.
type random struct {
	numbers *rand.Rand
	ids     *rand.Rand
}

// guarded is a generator that code may keep. Whoever draws from it changes it, so code that may
// only read must not. It goes on with numbers of another run or generation when the code reacts to
// the first event that this one has written.
type guarded struct {
	env     *Env
	purpose string
	run     journal.RunID // of which source is, with its generation
	gen     journal.Generation
	source  rand.Source
}

// Uint64 implements rand.Source.
func (g *guarded) Uint64() uint64 {
	e := g.env
	if e.readOnly {
		callsite.Refuse(e.refuseReadOnly())
	}
	if run, gen := e.info.Rewound.Writer(e.info.Run, e.info.Generation, e.seq); g.source == nil || run != g.run || gen != g.gen {
		g.run, g.gen, g.source = run, gen, seeded(run, gen, g.purpose)
	}
	return g.source.Uint64()
}

// Random returns the run's random numbers. They are a function of run id and generation, those in
// which the event was written that the code reacts to: a replay draws the same ones, in a copy too,
// and no other run or generation does.
func (e *Env) Random() *rand.Rand {
	if e.random.numbers == nil {
		e.random.numbers = rand.New(&guarded{env: e, purpose: "numbers"})
	}
	return e.random.numbers
}

// UUID draws the next id, in the form of version 4. Ids are drawn apart from Random's numbers.
func (e *Env) UUID() uuid.UUID {
	if e.random.ids == nil {
		e.random.ids = rand.New(&guarded{env: e, purpose: "ids"})
	}
	var id uuid.UUID
	binary.BigEndian.PutUint64(id[:8], e.random.ids.Uint64())
	binary.BigEndian.PutUint64(id[8:], e.random.ids.Uint64())
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	return id
}

// seeded returns a generator for one purpose. The seed's form must never change: old histories
// depend on it.
func seeded(run journal.RunID, g journal.Generation, purpose string) rand.Source {
	b := append([]byte("reprise random 1\n"), run[:]...)
	b = binary.BigEndian.AppendUint32(b, uint32(g))
	b = append(b, purpose...)
	return rand.NewChaCha8(sha256.Sum256(b))
}
