package cli

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// Sequences of ECMA-48 and of xterm, which every terminal of today obeys.
const (
	screenOpen  = "\x1b[?1049h\x1b[?25l\x1b[?7l" // a screen beside what was printed before; no cursor; long lines are cut
	screenClose = "\x1b[?7h\x1b[?25h\x1b[?1049l"
	screenHome  = "\x1b[H"
	screenEOL   = "\x1b[K\r\n" // the rest of the line is cleared
	screenEnd   = "\x1b[J"     // and the rest of the screen
)

// keyInterrupt is Ctrl-C, which is a key like others on a terminal that hands keys over as they are
// typed.
const keyInterrupt = 3

// screen is the terminal of somebody who watches. What it shows is replaced as a whole, without a
// moment in which it is empty.
type screen struct {
	out   *os.File
	in    *os.File    // nil if nobody can type
	saved *term.State // of in
}

// screenOf takes the terminal over, and answers nil if there is none. It must be closed.
func screenOf(c *cobra.Command) *screen {
	out, ok := c.OutOrStdout().(*os.File)
	if !ok || !isatty.IsTerminal(out.Fd()) {
		return nil
	}
	s := &screen{out: out}
	if in, ok := c.InOrStdin().(*os.File); ok && isatty.IsTerminal(in.Fd()) {
		if saved, err := term.MakeRaw(int(in.Fd())); err == nil {
			s.in, s.saved = in, saved
		}
	}
	fmt.Fprint(out, screenOpen)
	return s
}

// close gives the terminal back as it was, with what was printed on it before.
func (s *screen) close() {
	fmt.Fprint(s.out, screenClose)
	if s.in != nil {
		_ = term.Restore(int(s.in.Fd()), s.saved) // there is nothing else to try
	}
}

// quits is a context that ends when somebody types q or Ctrl-C.
func (s *screen) quits(ctx context.Context) context.Context {
	if s.in == nil {
		return ctx
	}
	ctx, quit := context.WithCancel(ctx)
	go func() { // it ends with the process: nothing can wake it before somebody types
		defer quit()
		for key := make([]byte, 1); ; {
			n, err := s.in.Read(key)
			if err != nil || n == 1 && (key[0] == 'q' || key[0] == 'Q' || key[0] == keyInterrupt) {
				return
			}
		}
	}()
	return ctx
}

// draw replaces what is drawn.
func (s *screen) draw(text string) error {
	_, height, err := term.GetSize(int(s.out.Fd()))
	if err != nil || height <= 0 {
		height = 24
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) >= height { // the last line stays free, or the terminal scrolls
		lines = append(lines[:max(height-2, 0)], "… more than fits")
	}
	var b strings.Builder
	b.WriteString(screenHome)
	for _, l := range lines {
		b.WriteString(l + screenEOL)
	}
	b.WriteString(screenEnd)
	_, err = s.out.WriteString(b.String())
	return err
}
