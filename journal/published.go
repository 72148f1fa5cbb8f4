package journal

import "slices"

// Published is a value that a run shows to whoever asks, without the run's code: its progress, for
// example. It is the newest that the run has published under the name, as of its last commit. It is
// kept with the run, through all generations and after the end.
type Published struct {
	Name  string
	Value Payload
}

// FindPublished returns the value that a run has published under a name.
func (r *Run) FindPublished(name string) (Payload, bool) {
	i := slices.IndexFunc(r.Published, func(p Published) bool { return p.Name == name })
	if i < 0 {
		return Payload{}, false
	}
	return r.Published[i].Value, true
}
