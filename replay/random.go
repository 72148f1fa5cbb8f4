package replay

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"

	"github.com/google/uuid"
)

// Random returns the run's random numbers. They are a function of run id and generation: a replay
// draws the same ones.
func (m *Machine) Random() *rand.Rand {
	if m.rand == nil {
		m.rand = m.seeded("numbers")
	}
	return m.rand
}

// UUID draws the next id, in the form of version 4. Ids are drawn apart from Random's numbers.
func (m *Machine) UUID() uuid.UUID {
	if m.ids == nil {
		m.ids = m.seeded("ids")
	}
	var id uuid.UUID
	binary.BigEndian.PutUint64(id[:8], m.ids.Uint64())
	binary.BigEndian.PutUint64(id[8:], m.ids.Uint64())
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	return id
}

// seeded returns a generator for one purpose. The seed's form must never change: old histories depend on it.
func (m *Machine) seeded(purpose string) *rand.Rand {
	b := append([]byte("reprise random 1\n"), m.info.Run[:]...)
	b = binary.BigEndian.AppendUint32(b, uint32(m.info.Generation))
	b = append(b, purpose...)
	return rand.New(rand.NewChaCha8(sha256.Sum256(b)))
}
