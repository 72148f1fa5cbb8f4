package replay

// Changes remembers the answers of Changed. The zero value is ready for use, within one run.
type Changes struct{ answers map[string]bool }

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
