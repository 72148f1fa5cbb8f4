package flow

const (
	// nodesMax bounds the nodes of a flow: a run keeps a strand for each that is under way, and a
	// turn may begin all of them.
	nodesMax = 10_000
	// nameBytesMax bounds a node's name: what a run records under it has a few words more, and must
	// stay below journal.NameBytesMax.
	nameBytesMax = 128
	// problemsMax bounds what a DeclarationError lists.
	problemsMax = 100
)
