package replay

import (
	"github.com/reprise-run/reprise/internal/list"
	"github.com/reprise-run/reprise/journal"
)

// openList gives commands their numbers, and finds open ones by number. It is a window over the
// dense numbering: what is answered at its front is forgotten, so a long history costs no memory,
// and finding costs an index and no map.
type openList struct {
	last   journal.Cmd          // the newest number given
	window list.Queue[*Command] // ends at last; nil for what is answered or never is
}

// add gives the next number. c is nil for commands without an answer.
func (l *openList) add(c *Command) journal.Cmd {
	l.last++
	if c != nil || l.window.Len() > 0 {
		l.window.Push(c)
	}
	return l.last
}

// place is where the window has a number; it is negative for one that the window has left behind.
func (l *openList) place(n journal.Cmd) int { return l.window.Len() - 1 - int(l.last-n) }

// find returns the open command of a number, nil if there is none.
func (l *openList) find(n journal.Cmd) *Command {
	i := l.place(n)
	if n > l.last || i < 0 {
		return nil
	}
	return *l.window.At(i)
}

// remove forgets a command, which must be open.
func (l *openList) remove(n journal.Cmd) {
	*l.window.At(l.place(n)) = nil
	for l.window.Len() > 0 && *l.window.At(0) == nil {
		l.window.Pop()
	}
}

// steps returns the open steps in the order of their numbers.
func (l *openList) steps() []*Command {
	var open []*Command
	for _, c := range l.window.All() {
		if c != nil && c.kind == journal.CommandStep {
			open = append(open, c)
		}
	}
	return open
}

func (l *openList) empty() bool { return l.window.Len() == 0 }

func (l *openList) clear() { l.window = list.Queue[*Command]{} }
