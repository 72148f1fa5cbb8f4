package replay

import "github.com/reprise-run/reprise/journal"

// openList finds open commands by number. It is a window over the dense numbering: what is answered at
// its front is forgotten, so a long history costs no memory.
type openList struct {
	last journal.Cmd // the newest number given
	list []*Command  // the window ends at last; nil for what is answered or never is
	head int         // where the window begins in list
}

// add gives the next number. c is nil for commands without an answer.
func (l *openList) add(c *Command) journal.Cmd {
	l.last++
	if c == nil && l.head == len(l.list) {
		return l.last
	}
	if l.head > 32 && l.head > len(l.list)/2 {
		n := copy(l.list, l.list[l.head:])
		clear(l.list[n:])
		l.list, l.head = l.list[:n], 0
	}
	l.list = append(l.list, c)
	return l.last
}

func (l *openList) index(n journal.Cmd) int { return len(l.list) - 1 - int(l.last-n) }

func (l *openList) find(n journal.Cmd) *Command {
	i := l.index(n)
	if n > l.last || i < l.head {
		return nil
	}
	return l.list[i]
}

func (l *openList) remove(n journal.Cmd) {
	l.list[l.index(n)] = nil
	for l.head < len(l.list) && l.list[l.head] == nil {
		l.head++
	}
	if l.head == len(l.list) {
		l.list, l.head = l.list[:0], 0
	}
}

// steps returns the open steps in the order of their numbers.
func (l *openList) steps() []*Command {
	var open []*Command
	for _, c := range l.list[l.head:] {
		if c != nil && c.kind == journal.CommandStep {
			open = append(open, c)
		}
	}
	return open
}

func (l *openList) empty() bool { return l.head == len(l.list) }

func (l *openList) clear() { l.list, l.head = nil, 0 }
