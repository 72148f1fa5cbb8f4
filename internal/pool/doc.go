// Package pool runs two kinds of work on few goroutines: mailboxes of actors, which return quickly,
// and jobs, which may block (step bodies, batches of the store).
//
// A [Pool] satisfies protoactor's Dispatcher by its methods alone, so neither this package nor
// those that only submit jobs depend on that library. The argument why no work is forgotten stands
// above the type.
package pool
