package workflow

import "github.com/reprise-run/reprise/replay"

// Logger writes lines about a run, with the run's id, workflow and key, to the log of the node that
// works on it.
type Logger struct{ env *replay.Env }

// Log returns the run's logger. It writes nothing while history is replayed and in code that may
// only read, so what happened once is logged once. A line can come twice if a node dies, or loses
// the run, before the turn is stored.
func Log(ctx Context) Logger { return Logger{ctx.reader()} }

// The levels, with the numbers that log/slog gives them.
const (
	levelDebug = -4
	levelInfo  = 0
	levelWarn  = 4
	levelError = 8
)

// Debug logs at slog.LevelDebug. args are keys and values in turn, as in log/slog.
func (l Logger) Debug(msg string, args ...any) { l.log(levelDebug, msg, args) }

// Info logs at slog.LevelInfo; args as for Debug.
func (l Logger) Info(msg string, args ...any) { l.log(levelInfo, msg, args) }

// Warn logs at slog.LevelWarn; args as for Debug.
func (l Logger) Warn(msg string, args ...any) { l.log(levelWarn, msg, args) }

// Error logs at slog.LevelError; args as for Debug.
func (l Logger) Error(msg string, args ...any) { l.log(levelError, msg, args) }

func (l Logger) log(level int, msg string, args []any) {
	if l.env != nil {
		l.env.Log(level, msg, args)
	}
}
