package runtimetest

import (
	"context"
	"net"
	"sync"
)

// resolveOutside has package net make what it keeps for all look-ups of names: channels among it,
// which would belong to the bubble of the first look-up, and every later one in another bubble
// would end the process. A test that connects to a database at "localhost" is such a look-up. The
// context has ended, so nothing is asked of a name server.
var resolveOutside = sync.OnceFunc(func() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, _ = net.DefaultResolver.LookupHost(ctx, "localhost") // the answer does not matter
})
