package sqlite

// execs executes statements until one fails.
type execs struct {
	q   querier
	err error
}

func (x *execs) exec(sql string, args ...any) {
	if x.err == nil {
		_, x.err = x.q.exec(sql, args...)
	}
}

func (x *execs) query(sql string, each func(r row) error, args ...any) {
	if x.err == nil {
		x.err = x.q.query(sql, each, args...)
	}
}
