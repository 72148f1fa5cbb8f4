package replay

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"

	"github.com/google/uuid"

	"github.com/reprise-run/reprise/internal/callsite"
)

// random has the run's generators, which are made when code first draws. They differ in their
// purpose, so that a change of how many numbers code draws does not change its ids.
type random struct {
	numbers *rand.Rand
	ids     *rand.Rand
}

// guarded is a generator that code may keep. Whoever draws from it changes it, so code that may
// only read must not.
type guarded struct {
	env *Env
	rand.Source
}

func (g guarded) Uint64() uint64 {
	if g.env.readOnly {
		callsite.Refuse(g.env.refuseReadOnly())
	}
	return g.Source.Uint64()
}

// Random returns the run's random numbers. They are a function of run id and generation, those in
// which the first event was written: a replay draws the same ones.
func (e *Env) Random() *rand.Rand {
	if e.random.numbers == nil {
		e.random.numbers = rand.New(guarded{e, seeded(&e.info, "numbers")})
	}
	return e.random.numbers
}

// UUID draws the next id, in the form of version 4. Ids are drawn apart from Random's numbers.
func (e *Env) UUID() uuid.UUID {
	if e.random.ids == nil {
		e.random.ids = rand.New(guarded{e, seeded(&e.info, "ids")})
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
func seeded(info *Info, purpose string) rand.Source {
	run := info.Rewound.FirstRun(info.Run)
	b := append([]byte("reprise random 1\n"), run[:]...)
	b = binary.BigEndian.AppendUint32(b, uint32(info.Rewound.First(info.Generation)))
	b = append(b, purpose...)
	return rand.NewChaCha8(sha256.Sum256(b))
}
