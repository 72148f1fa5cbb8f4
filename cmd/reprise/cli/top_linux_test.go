package cli_test

import (
	"bufio"
	"os"
	"regexp"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/reprise-run/reprise/cmd/reprise/cli"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

// screens reads what a program draws, and answers when a pattern has been drawn behind the last one.
type screens struct {
	t    *testing.T
	from *bufio.Reader
}

func (s *screens) await(pattern string) {
	s.t.Helper()
	what, seen := regexp.MustCompile(pattern), []byte(nil)
	for !what.Match(seen) {
		b, err := s.from.ReadByte()
		if seen = append(seen, b); err != nil {
			s.t.Fatalf("%q was not drawn: %v\n%q", pattern, err, seen)
		}
	}
}

// TestTop: on a terminal the command top looks again and again, goes on while the store is away, fits
// the window, and leaves the terminal as it was.
func TestTop(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	reprise(t, dsn, cli.ExitDone, "demo")
	for name, end := range map[string]string{"q": "q", "Ctrl-C": "\x03"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			link := pgtest.Proxy(t, dsn)
			ours, theirs := terminal(t)
			if err := unix.IoctlSetWinsize(int(theirs.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 6, Col: 60}); err != nil {
				t.Fatal(err)
			}
			if err := ours.SetReadDeadline(time.Now().Add(patience)); err != nil {
				t.Fatal(err)
			}
			before := modeOf(t, theirs)
			cmd := command(t, link.DSN(), "top", "--every", "20ms")
			cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs, theirs, theirs
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			s := &screens{t, bufio.NewReader(ours)}
			s.await(`\x1b\[\?1049h`)
			s.await("blocked 1")
			s.await("… more than fits")
			link.Refuse(true)
			link.Cut()
			s.await("no answer for ")
			link.Refuse(false)
			s.await(`\x1b\[H\d\d:\d\d:\d\d  open 11`) // where the reason was
			if _, err := ours.WriteString(end); err != nil {
				t.Fatal(err)
			}
			s.await(`\x1b\[\?1049l`)
			if err := cmd.Wait(); err != nil {
				t.Errorf("it ends with %v", err)
			}
			if after := modeOf(t, theirs); after != before {
				t.Errorf("the terminal is left as %+v, and was %+v", after, before)
			}
		})
	}
}

func modeOf(t *testing.T, terminal *os.File) unix.Termios {
	t.Helper()
	mode, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return *mode
}
