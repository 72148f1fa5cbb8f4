package journal

import (
	"time"
)

// Limits of what is stored. Each is checked before anything is written.
const (
	NameBytesMax        = 255       // workflow, queue, step, timer and signal names: they are index keys and log fields
	KeyBytesMax         = 512       // keys of runs and messages: they are index keys, far under a B-tree page's third
	LabelsMax           = 32        // a run's labels are copied into every listing
	LabelKeyBytesMax    = 64        //
	LabelValueBytesMax  = 255       //
	HeadersMax          = 64        // as many entries as a W3C baggage must be able to have
	HeadersBytesMax     = 16 << 10  // all headers together, with their names: a baggage of 8 KiB, and as much again
	PayloadBytesMax     = 2 << 20   // default limit of a payload after encoding, as in Temporal
	PayloadBytesCap     = 64 << 20  // the option's own limit: a batch must fit in memory and in a protocol message
	CommitEventsMax     = 10_000    // one turn's events travel in one statement
	CommitBytesMax      = 256 << 20 // and with all that the turn writes of its own run; servers end a statement at 1 GB
	IssuedBytesMax      = 64 << 20  // what code asks for in reaction to one event is one text, with the values that it records
	CommitEffectsMax    = 20_000    // children, messages and replies of one turn: they are written in one transaction
	BatchMax            = 1_000     // members of one Start, Send, Commit or Load call
	ListMax             = 1_000     // runs in a page
	ListDefault         = 100       //
	AggregateMax        = 1_000_000 // runs that one aggregate counts
	AggregateDefault    = 100_000   // of which a database reads each
	HistoriesMax        = 100_000   // runs into whose histories one aggregate looks
	HistoriesDefault    = 10_000    //
	GroupingsMax        = 4         //
	GroupsMax           = 1_000     // groups in an answer
	AttemptsMax         = 10_000    // steps of one run that can be in retry at once
	PriorityMin         = 1         // claimed first
	PublishedMax        = 32        // names under which a run publishes: they are in its row, and in every listing
	PublishedBytesMax   = 16 << 10  // and all of these values together, with their names
	PriorityMax         = 5         // claimed last; the claim statement visits each
	PriorityDefault     = 3         //
	InboxLoadMax        = 1_000     // messages of a run in one load; the owner comes back for more
	AttentionMax        = 1_000     // runs with messages in one claim's answer
	DelayMax            = 100 * 365 * 24 * time.Hour
	TraceBytesMax       = 255
	FreezesMax          = 100      // times that the timers of one run were frozen: its row has them, and each claim reads it
	TypeBytesMax        = 4 << 10  // of one schema of a type: what is larger is not kept
	TypesBytesMax       = 64 << 10 // of all schemas of a node: whoever lists nodes reads them
	ViewsMax            = 200      // saved views: all of them are in each list of them
	ViewNameBytesMax    = 100
	ViewAddressBytesMax = 32 << 10      // a condition of 8 KiB, escaped
	LimitNeedsMax       = 8             // limits of one step: a claim has a row for each
	LimitHoldersMax     = 1_000_000     // of one key at once
	LimitCostMax        = 1_000_000_000 // of one claim, and of a rate
	LimitWeightMax      = 1_000         // of a key
	LimitBacklogMax     = 100_000       // runs that wait for a key: each start counts them
	LimitPerMax         = 366 * 24 * time.Hour
	LimitAgeingDefault  = time.Minute // a claim that has waited so long is as urgent as a fresh one of the next priority
	LimitPlaceMax       = 1_000       // places of a line that are counted: whoever asks wants to know whether it is long
	LimitRoundMax       = 1_000       // wants, releases and looks of one round of a node: they are one transaction
	AuditTextBytesMax   = 4096        // of a reason, the audit keeps as much: it is for people, and read in pages
)

// DefaultQueue is the queue of runs that name none.
const DefaultQueue = "default"
