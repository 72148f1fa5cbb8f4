// Package batch makes one call of the store out of many that arrive at the same time: group commit.
//
// [Batcher] decides which calls go together, and lets none wait for ever behind another one: see
// "Slow writes" there. [CallShared] is for a batch whose members each have a context: the call they
// share goes on as long as one of them still waits. Neither knows what is batched.
package batch
