package journal

// Options of a Journal. The zero value means the defaults.
type Options struct {
	Codec           Codec // default JSON
	PayloadBytesMax int   // limit of one payload after encoding; default PayloadBytesMax, at most PayloadBytesCap
	Observer        Observer
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
	c.PayloadBytesMax = min(c.PayloadBytesMax, PayloadBytesCap)
	return c
}
