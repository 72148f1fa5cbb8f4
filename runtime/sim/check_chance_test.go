package sim

import (
	"strings"

	"github.com/reprise-run/reprise/journal"
)

// checkChance: no two runs or generations draw the same numbers or ids, and none draws one twice.
// That of copied events is the original's.
func checkChance(f *finder) {
	drawn := map[string]string{}
	for _, r := range f.runs {
		names := map[string]bool{}
		walkOwn(r.plan.Program, func(in *instr) {
			if in.Do == doChance {
				names[in.record()] = true
			}
		})
		for ev := range r.own() {
			for _, c := range ev.Issued {
				if c.Kind != journal.CommandRecord || !names[c.Name] {
					continue
				}
				p, err := c.Value()
				parts := strings.Fields(decodeSignal(p))
				if err != nil || len(parts) != 2 {
					f.breaks("%s: %s is recorded as %q: %v", r, c.Name, parts, err)
				}
				for _, part := range parts {
					if other, known := drawn[part]; known {
						f.breaks("%s draws %s, and so did %s", r, part, other)
					}
					drawn[part] = r.String()
				}
			}
		}
	}
}
