package flow

const (
	// nodesMax bounds the nodes of a flow: a run keeps a strand for each that is under way, and a
	// turn may begin all of them. With those of nested flows it bounds a shape, which is one value
	// in the store and one picture.
	nodesMax = 10_000
	// depthMax bounds how many flows are in each other: each level is a run that waits for a child,
	// and three levels of the shape's JSON, of which decoders take some thousands.
	depthMax = 1000
	// nameBytesMax bounds a node's name: what a run records under it has a few words more, and must
	// stay below journal.NameBytesMax.
	nameBytesMax = 128
	// problemsMax bounds what a DeclarationError lists.
	problemsMax = 100
)
