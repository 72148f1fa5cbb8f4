package workflow

import "github.com/reprise-run/reprise/replay"

// Logger writes lines about a run, with the run's id, workflow and key, to the log of the node that
// works on it.
type Logger struct{ env *replay.Env }

// Log returns the run's logger. It is silent while history is replayed and in code that may only
// read, so that a line comes once for what happened once. It can come twice if a node dies, or
// loses the run, before what happened is stored.
func Log(ctx Context) Logger { return Logger{ctx.reader()} }

// The levels, with the numbers that log/slog gives them.
const (
	levelDebug = -4
	levelInfo  = 0
	levelWarn  = 4
	levelError = 8
)

// Debug writes a line that is of use while looking for a fault. args are keys and values in turn,
// as in log/slog.
func (l Logger) Debug(msg string, args ...any) { l.log(levelDebug, msg, args) }

// Info writes a line about the usual.
func (l Logger) Info(msg string, args ...any) { l.log(levelInfo, msg, args) }

// Warn writes a line about something odd.
func (l Logger) Warn(msg string, args ...any) { l.log(levelWarn, msg, args) }

// Error writes a line about something that went wrong.
func (l Logger) Error(msg string, args ...any) { l.log(levelError, msg, args) }

func (l Logger) log(level int, msg string, args []any) {
	if l.env != nil {
		l.env.Log(level, msg, args)
	}
}
