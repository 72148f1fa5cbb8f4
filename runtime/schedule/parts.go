package schedule

import (
	"fmt"
	"slices"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
)

// A change that is too large for one message is several: parts, and a last message that says how
// many there are. The set keeps parts until that comes, and then makes the change as a whole. In a
// transaction all of them are there at once. Without one a caller may die between two of them:
// nothing has happened then, and the set forgets the parts.

// partOf tells to which change a message belongs; it is zero for one that is a change by itself.
type partOf struct {
	Change string `json:"change,omitempty"` // chance, which nobody else has
	Parts  int    `json:"parts,omitempty"`  // of the last message: how many have come before; 0 for a part
}

// isPart tells whether there is more to come.
func (p partOf) isPart() bool { return p.Change != "" && p.Parts == 0 }

// divide makes messages of a change, none of which has more than changeBytesMax bytes. The last one
// has what else the change says.
func divide(set string, ch change) ([]change, error) {
	what := fmt.Sprintf("set %q of schedules", set)
	var parts []change
	size, first := 0, 0
	for i := range ch.Put {
		bytes, p := ch.Put[i].bytes()
		if err := p.error(what); err != nil {
			return nil, err
		}
		if size += bytes; size > changeBytesMax && i > first {
			parts = append(parts, change{Put: ch.Put[first:i]})
			size, first = bytes, i
		}
	}
	var p problems
	p.add(len(parts) > partsMax, "it has more than %d bytes: divide it, or keep large inputs elsewhere", partsMax*changeBytesMax)
	if err := p.error(what); err != nil {
		return nil, err
	}
	if ch.Put = ch.Put[first:]; len(parts) > 0 {
		id := journal.NewRunID().String()
		ch.partOf = partOf{id, len(parts)}
		for i := range parts {
			parts[i].partOf, parts[i].Actor = partOf{Change: id}, ch.Actor
		}
	}
	return append(parts, ch), nil
}

// gathering is a change of which parts have come.
type gathering struct {
	id    string
	parts int
	put   []Schedule
}

// gather keeps a part. Of changes whose rest does not come the newest are kept.
func (k *keeper) gather(c *change) {
	at := slices.IndexFunc(k.gathered, func(g *gathering) bool { return g.id == c.Change })
	if at < 0 {
		at = len(k.gathered)
		k.gathered = append(k.gathered, &gathering{id: c.Change})
	}
	if g := k.gathered[at]; g.parts < partsMax {
		g.parts++
		g.put = append(g.put, c.Put...)
	}
	if len(k.gathered) > gatheredMax {
		k.gathered = k.gathered[1:]
	}
}

// whole waits until all parts of a change are there, and puts them into it.
func (k *keeper) whole(ctx workflow.Context, c *change) error {
	if c.Parts == 0 {
		return nil
	}
	find := func() int {
		return slices.IndexFunc(k.gathered, func(g *gathering) bool { return g.id == c.Change && g.parts >= c.Parts })
	}
	if _, err := workflow.AwaitTimeout(ctx, partsWait, func() bool { return find() >= 0 }); err != nil {
		return err
	}
	at := find()
	if at < 0 {
		return refuse(ctx, "set "+k.Set, fmt.Sprintf("set %q of schedules: not all of the %d parts of a change have come: apply it again", k.Set, c.Parts))
	}
	c.Put = append(k.gathered[at].put, c.Put...)
	k.gathered = slices.Delete(k.gathered, at, at+1)
	return nil
}
