package goroutine

import "sync"

// Local is a value that the present goroutine has, and no other one sees. The engine keeps there
// what a call is made for where no argument can say it. Who sets a value takes it back: a Local
// holds it else for ever, though its goroutine has ended.
type Local struct{ values sync.Map } // by ID

// Swap sets the goroutine's value, nil for none, and returns the one before.
func (l *Local) Swap(v any) (before any) {
	if v == nil {
		before, _ = l.values.LoadAndDelete(ID())
		return before
	}
	before, _ = l.values.Swap(ID(), v)
	return before
}

// Get returns the goroutine's value, nil for none.
func (l *Local) Get() any {
	v, _ := l.values.Load(ID())
	return v
}
