package runtimetest

// Nodes is how many nodes the test's store knows.
func Nodes(e *Env) int {
	list, err := e.db.Nodes(e.ctx)
	if err != nil {
		e.Fatal(err)
	}
	return len(list)
}
