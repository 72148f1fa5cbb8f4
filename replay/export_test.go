package replay

// Env returns what the machine's code sees, for tests that look at it as code does.
func (m *Machine) Env() *Env { return &m.env }

// SetBudget changes how many actions the code has in reaction to one event.
func (m *Machine) SetBudget(actions int) { m.env.budget = actions }

// SetThresholds is that of the machine, for tests whose code sets them.
func (e *Env) SetThresholds(t Thresholds) { e.length.set(t) }
