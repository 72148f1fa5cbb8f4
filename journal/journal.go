package journal

import (
	"context"
	"sync"
)

// Store is an open database that can keep a journal: a *postgres.Store, a *sqlite.Store or a
// *memory.Store. It is the part of a back end that callers need no engine for. What one implements
// to add a back end is driver.Store, in package journal/driver, which includes this interface.
type Store interface {
	// List returns runs, newest first. A runtime.Client has checks and paging on top of it.
	List(ctx context.Context, f ListFilter) (RunPage, error)

	// Aggregate counts runs. A runtime.Client has checks on top of it.
	Aggregate(ctx context.Context, a Aggregate) (Aggregated, error)

	// Nodes lists the nodes whose lease is valid.
	Nodes(ctx context.Context) ([]Node, error)
}

// Journal is a store together with what its users in one process share: the options, an estimate of
// the store's clock, and the hints by which they wake each other. So a program makes one Journal of
// a store and gives it to all its nodes and clients. Two Journals of one store are correct too, but
// hear of each other only as two processes would.
//
// A Journal is a handle: it has nothing to close and may be used from many goroutines. The engine
// behind it, which reads and writes, is driver.Journal.
type Journal struct {
	store  Store
	o      Options
	once   sync.Once
	engine any
}

// New returns a Journal on a store, which stays the caller's to close, after all nodes and clients
// have ended. o may be nil; it is copied. The store must be one of a back end: nodes and clients
// panic when they are given a Journal on something else.
func New(s Store, o *Options) *Journal { return &Journal{store: s, o: o.withDefaults()} }

// Store returns the store.
func (j *Journal) Store() Store { return j.store }

// Options returns the options, with their defaults filled in.
func (j *Journal) Options() Options { return j.o }

// Codec returns the codec of payloads.
func (j *Journal) Codec() Codec { return j.o.Codec }

// Encode turns a value into a payload within the limit. what names the value in errors, which match
// [ErrInvalid]: they wrap the codec's own, or are a [LimitError].
func (j *Journal) Encode(what string, v any) (Payload, error) {
	p, err := j.o.Codec.Encode(v)
	if err != nil {
		return Payload{}, &encodeError{what, err}
	}
	return p, j.CheckPayload(what, p)
}

// CheckPayload refuses a payload that cannot be stored. The limit is one of bytes after encoding,
// because that is what rows, statements and memory have to hold.
func (j *Journal) CheckPayload(what string, p Payload) error {
	if len(p.Data) > j.o.PayloadBytesMax {
		return &LimitError{
			What: what + " in bytes", Size: len(p.Data), Max: j.o.PayloadBytesMax,
			How: "store it elsewhere and pass a reference, or raise journal.Options.PayloadBytesMax in all programs",
		}
	}
	if p.Encoding == EncodingJSON {
		return nil
	}
	return CheckText(what+" encoding", p.Encoding, LabelKeyBytesMax)
}

// Engine returns what build made at the first call for this Journal. Package journal/driver keeps
// its half here, so that all users of one Journal share it; nobody else needs this method.
func (j *Journal) Engine(build func() any) any {
	j.once.Do(func() { j.engine = build() })
	return j.engine
}
