package journal

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
)

// Link is the identity of a history up to an event: a 64-bit hash of the link before and of
// everything that the event holds. Two histories whose newest links are equal are the same history.
// 0 is no link.
//
// Numbers cannot serve for that, because a store may go back in time: a fail-over to an
// asynchronous standby, a restored copy and a crash without synchronous commits all lose the last
// moments, and what is done afterwards gets the numbers of what was lost. A link repeats only if
// the same events happen again, and then nothing is wrong. The hash (xxHash64) keeps accidents
// apart, and finds what was edited or mixed; it is not made against somebody who wants to deceive.
type Link int64

// Head is the newest event of a generation's history: the state of the run. Seq is 0 if there is no
// event yet, and Link is then the generation's origin, see [OriginOf].
type Head struct {
	Seq  Seq
	Link Link
}

// ByStore tells whether a store has closed the run with the event, without the run's code: for an
// operator, a closed parent, or a limit that is full. Such an event has no link, and nothing
// follows it. All others have one.
func (e *Event) ByStore() bool {
	return e.Kind == RunTerminated || e.Kind == RunCancelled && e.Link == 0
}

// OriginOf returns the link that the first event of a generation follows. It is a function of what
// the code of the generation begins with.
func OriginOf(run RunID, g Generation, seen InboxSeq, input Payload) Link {
	var l linker
	l.begin()
	l.bytes(run[:])
	l.uint(uint64(g))
	l.uint(uint64(seen))
	l.payload(input)
	return l.link()
}

// LinkAfter returns the link of an event that follows prev. It is a function of what stores keep of
// the event, so it is the same when the event is loaded again. The payload of a message that was
// dropped is not part of it: it is stored with the message alone, and the code has not seen it.
func (e *Event) LinkAfter(prev Link) Link {
	var l linker
	l.begin()
	l.uint(uint64(prev))
	l.uint(uint64(e.Seq))
	l.uint(uint64(e.Kind))
	l.uint(uint64(e.Cmd))
	l.uint(uint64(e.Inbox))
	l.uint(uint64(e.Attempt))
	l.uint(uint64(e.Time.UnixMicro()))
	l.text(e.Name)
	if e.Kind != MessageDropped {
		l.payload(e.Payload)
	}
	for i := range e.Issued {
		l.issued(&e.Issued[i])
	}
	return l.link()
}

// Digest identifies the content of a message, whatever number it has. A commit names it beside the
// number of a message that it consumes, because numbers repeat when a store goes back.
func (m *Message) Digest() Link {
	var l linker
	l.begin()
	l.uint(uint64(m.Kind))
	if m.Kind.Answers() { // else they are the sender's, and not stored
		l.uint(uint64(m.Cmd))
		l.uint(uint64(m.Generation))
	}
	l.text(m.Name)
	l.text(m.Key)
	l.payload(m.Payload)
	return l.link()
}

// linker hashes fields, each in a form from which it could be read back: numbers have eight bytes,
// and texts follow their length. So two different lists of fields never have the same bytes.
type linker struct {
	hash  xxhash.Digest
	fixed [64]byte // numbers wait here, because the hash takes few large pieces faster than many small ones
	n     int
}

func (l *linker) begin() { l.hash.Reset() }

func (l *linker) uint(v uint64) {
	if l.n+8 > len(l.fixed) {
		l.flush()
	}
	binary.LittleEndian.PutUint64(l.fixed[l.n:], v)
	l.n += 8
}

func (l *linker) flush() {
	_, _ = l.hash.Write(l.fixed[:l.n])
	l.n = 0
}

func (l *linker) text(s string) {
	l.uint(uint64(len(s)))
	if s != "" {
		l.flush()
		_, _ = l.hash.WriteString(s)
	}
}

func (l *linker) bytes(b []byte) {
	l.uint(uint64(len(b)))
	if len(b) > 0 {
		l.flush()
		_, _ = l.hash.Write(b)
	}
}

func (l *linker) payload(p Payload) {
	l.text(p.Encoding)
	l.bytes(p.Data)
}

// issued hashes what the stored line of a command holds, see [Issued.String].
func (l *linker) issued(i *Issued) {
	l.uint(uint64(i.Kind))
	switch i.Kind {
	case CommandCancel:
		l.uint(uint64(i.Target))
	case CommandTimer:
		l.uint(uint64(i.Due.UnixNano()))
		l.text(i.Name)
	default:
		l.text(i.Name)
		l.text(i.Detail)
	}
}

// link returns the hash of everything. 0 means that there is no link, so no hash is 0.
func (l *linker) link() Link {
	l.flush()
	if sum := l.hash.Sum64(); sum != 0 {
		return Link(sum)
	}
	return 1
}
