// Package gather makes one run of many inputs: a batch of them by size or time, the last of those
// that come in quick succession, or the newest of those that come while a run is open.
//
//	var Mails = gather.Batch("mails", SendMails, gather.Rules{Size: 100, Wait: 5 * time.Second})
//	var Index = gather.Debounce("index", Reindex, gather.Rules{Quiet: 2 * time.Second})
//	var Sync  = gather.Latest("sync", SyncShop, gather.Rules{})
//
//	err := gather.Put(ctx, client, Mails, "eu", mail, nil)         // SendMails gets []Mail
//	ticket, err := gather.Add(ctx, client, Index, "doc-7", doc, nil) // Reindex gets the last Doc
//	run, err := ticket.Run(ctx)                                    // when that has been started
//
// A node executes collectors after [Handle]. Singletons need no collector: runtime.Start returns
// the open run that has the key.
//
// # What it is made of
//
// Each key of a [Collector] has a run, of a workflow as users write them, and an input is a message
// to it. So many inputs are one transaction, as messages are, and an input may be put in a
// transaction of the caller's. The collector's run waits for the size or the time, starts the run
// of the batch as a child that outlives it, and continues as new from time to time. There is no
// table and no second clock.
//
// # Once, and in order
//
// What [Put] or [Add] has acknowledged is in the inbox of the collector's run (J10), which keeps
// the order (J5). The turn that starts a batch takes its inputs out of the collector, in one commit
// (J2), which only the owner of the collector's run can write (J3). So each input is in one batch,
// however often nodes die, and a batch is started once. The key of its run is made of the
// collector's run and of the number of the batch, so a collector that an operator sets back does
// not start the same one again either. A limit that is full neither refuses nor cancels the run of
// a batch: it waits beyond the backlog.
//
// # Time
//
// Time counts from when a node takes an input. What came while no node served is one batch when a
// node does, if it fits, and its time begins then.
package gather
