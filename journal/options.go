package journal

import "log/slog"

// Options of a Journal. The zero value means the defaults.
type Options struct {
	Codec           Codec // default JSON
	PayloadBytesMax int   // limit of one payload after encoding; default PayloadBytesMax, at most PayloadBytesCap
	Observer        Observer
	// Logger gets a warning when the store has been unavailable for a second, with the cause, and a
	// line when it answers again. Default slog.Default().
	Logger *slog.Logger
}

func (o *Options) withDefaults() Options {
	var c Options
	if o != nil {
		c = *o
	}
	if c.Codec == nil {
		c.Codec = JSON{}
	}
	if c.PayloadBytesMax <= 0 {
		c.PayloadBytesMax = PayloadBytesMax
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	c.PayloadBytesMax = min(c.PayloadBytesMax, PayloadBytesCap)
	return c
}
