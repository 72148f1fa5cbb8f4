package filter

// Limits of a filter. It comes from a person or over a network, and a database plans and executes
// it, so each is checked before anything is asked.
const (
	TextBytesMax = 8 << 10 // of the whole text
	DepthMax     = 32      // parentheses and nots inside each other: parser and compilers recurse
	TermsMax     = 200     // conditions and values of lists together: each is a parameter
	// ClassBytesMax is the length up to which error.class finds a name: it is a key of an index,
	// and a longer one would make a database refuse to store the failure.
	ClassBytesMax = 300
)
