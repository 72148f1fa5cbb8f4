package journal

import "maps"

// Relabel sets labels of a run, and removes those without a value. The maps that the run had are
// left alone, because others may hold them; the first call keeps the one of the start.
func (r *Run) Relabel(changes map[string]*string) {
	if r.StartLabels == nil {
		if r.StartLabels = r.Labels; r.StartLabels == nil {
			r.StartLabels = map[string]string{}
		}
	}
	r.Labels = Relabelled(r.Labels, changes)
}

// Relabelled returns labels after changes; nil if none are left. It changes neither.
func Relabelled(labels map[string]string, changes map[string]*string) map[string]string {
	after := maps.Clone(labels)
	if after == nil {
		after = map[string]string{}
	}
	for name, value := range changes {
		if value == nil {
			delete(after, name)
		} else {
			after[name] = *value
		}
	}
	if len(after) == 0 {
		return nil
	}
	return after
}
