package journal

// Continue begins the next generation of a run: same id, key, inbox and task, a fresh history. It
// keeps histories short, because a run that loads has to replay its own generation only. Since
// command numbers start again, an answer to a command of an earlier generation is told apart by its
// Generation.
type Continue struct {
	Input   Payload
	Version int32 // of the workflow, from now on
	// Seen and Carried say where the new generation's inbox begins: at the messages behind Seen,
	// and before them at those of the ascending list Carried, which were consumed but not received
	// by the code.
	Seen    InboxSeq
	Carried []InboxSeq
}
