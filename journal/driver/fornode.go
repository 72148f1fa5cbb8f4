package driver

import "context"

type forNodeKey struct{}

// ForNode marks calls of Load that a node makes for runs that it owns, without which these cannot
// go on. Other loads are made for clients: a store with few connections may let them wait while
// somebody else waits for a row or reads a long history.
func ForNode(ctx context.Context) context.Context {
	return context.WithValue(ctx, forNodeKey{}, true)
}

// IsForNode tells whether a call is marked.
func IsForNode(ctx context.Context) bool {
	marked, _ := ctx.Value(forNodeKey{}).(bool)
	return marked
}
