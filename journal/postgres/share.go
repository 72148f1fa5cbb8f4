package postgres

import (
	"context"
	"fmt"

	"github.com/reprise-run/reprise/journal"
)

// shares share the connections of the pool out while a node runs on the store. Whoever calls for a
// client takes a place before a connection, and waits for the place alone: however many of them
// wait for a row that a user has locked, or read long listings, the pool has connections left that
// only the engine takes, so claims, commits and loads never wait for somebody else. Transactions of
// steps, whose time is the user's, have places of their own.
//
// Three kinds of calls have no share. The engine's own: what is left is theirs, and they end. Calls
// in a transaction of the caller's, whose connection is the caller's. And all calls of a store
// without a node, which has nobody to protect.
//
// Reads may be long, and administrative actions may wait for a row, so they leave one place of the
// clients to starts and messages, if there are two. Such a call takes its place among the slow ones
// first and then one among the clients; a start takes only the second, and waits for no place once
// it has that. So no two wait for each other's places.
type shares struct {
	clients, slow chan struct{}
}

func newShares(o *Options) shares {
	return shares{clients: make(chan struct{}, o.ClientMax), slow: make(chan struct{}, max(1, o.ClientMax-1))}
}

// share is which share of the pool a call belongs to.
type share int

const (
	engineShare share = iota
	clientShare       // starts and messages
	slowShare         // of clients: what they read and administrate
)

type shareKey struct{}

// inShare marks a context: calls with it belong to a share. Without a mark they are the engine's.
func inShare(ctx context.Context, s share) context.Context {
	return context.WithValue(ctx, shareKey{}, s)
}

// enter takes the places of a call, and returns what gives them back. busy tells whether a node
// runs on the store.
func (s *shares) enter(ctx context.Context, busy func() bool) (leave func(), err error) {
	which, _ := ctx.Value(shareKey{}).(share)
	if which == engineShare || !busy() {
		return func() {}, nil
	}
	if which == slowShare {
		if err := place(ctx, s.slow); err != nil {
			return nil, err
		}
	}
	if err = place(ctx, s.clients); err != nil && which == slowShare {
		<-s.slow
	}
	if err != nil {
		return nil, err
	}
	return func() {
		<-s.clients
		if which == slowShare {
			<-s.slow
		}
	}, nil
}

// place takes a place, and says whose it was not if ctx ends before.
func place(ctx context.Context, places chan struct{}) error {
	select {
	case places <- struct{}{}:
		return nil
	default:
	}
	select {
	case places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("all %d connections for such calls of clients are in use, see postgres.Options.ClientMax: %w: %w",
			cap(places), journal.ErrUnavailable, context.Cause(ctx))
	}
}
