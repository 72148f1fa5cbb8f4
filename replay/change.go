package replay

// Changes remembers the answers of Changed. The zero value is ready for use, within one run.
type Changes struct{ answers map[string]bool }

// Changes are those of the whole run.
func (e *Env) Changes() *Changes { return &e.changes }

// Changed tells whether the code shall take the new branch of a change: always, but where the
// history was made by code that did not ask. The first answer is kept in c.
//
// A new answer of true is an entry of the ledger. On replay the entry is all there is to the
// decision: if the history has it here, the code took the new branch then, else it took the old
// one.
func (e *Env) Changed(c *Changes, id string) bool {
	if _, err := e.current(); err != nil {
		panic(err)
	}
	e.spend()
	if answer, known := c.answers[id]; known {
		return answer
	}
	answer := false
	if e.replaying {
		answer = e.marked(id)
	} else {
		answer = e.mark(id)
	}
	c.remember(id, answer)
	return answer
}

// remember keeps the first answer.
func (c *Changes) remember(id string, answer bool) {
	if _, known := c.answers[id]; known {
		return
	}
	if c.answers == nil {
		c.answers = make(map[string]bool)
	}
	c.answers[id] = answer
}
