package pgserver

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// stoppedMarker is a file in the server's folder that exists while no server runs there. The
// supervisor does not look for a process then.
const stoppedMarker = "stopped"

// superviseScript waits for the end of its standard input, stops the server that still runs in the
// folder, and removes the folder. $1 is the folder.
//
// It is a shell script because it must outlive this process, and everybody has a shell. It looks
// for the server's own pid file, which the server removes as it ends: its pid may stay as a zombie
// where nobody collects orphans. It ignores the signals of a terminal, which go to whole groups of
// processes.
const superviseScript = `
PATH="$PATH:/usr/bin:/bin"
trap '' INT TERM HUP
while read -r _; do :; done
if [ ! -e "$1/stopped" ] && [ -s "$1/data/postmaster.pid" ]; then
	read -r pid < "$1/data/postmaster.pid"
	kill -QUIT "$pid" 2>/dev/null
	tries=100
	while [ -e "$1/data/postmaster.pid" ] && kill -0 "$pid" 2>/dev/null; do
		tries=$((tries - 1))
		if [ "$tries" -le 0 ]; then kill -KILL "$pid" 2>/dev/null; break; fi
		sleep 0.1
	done
fi
tries=50
until rm -rf "$1" 2>/dev/null; do
	tries=$((tries - 1))
	if [ "$tries" -le 0 ]; then exit 1; fi
	sleep 0.1
done
`

// supervisor is the shell that outlives this process if it must. Nothing is sent to it: that its
// standard input ends is the only message, because the kernel delivers it however this process
// dies.
type supervisor struct {
	cmd  *exec.Cmd
	dir  string
	pipe io.Closer // its standard input; closing it tells the shell to clean up
}

// supervise starts the shell that removes dir. It keeps our own rights, so that it can remove what
// belongs to the server's user, and has a session of its own, so that a terminal's signals do not
// end it with us.
func supervise(dir string) (*supervisor, error) {
	cmd := exec.Command("/bin/sh", "-c", superviseScript, "sh", dir)
	cmd.Dir = "/"
	own(cmd, nil)
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the supervising shell: %w", err)
	}
	return &supervisor{cmd: cmd, dir: dir, pipe: pipe}, nil
}

// release lets the shell clean up and waits for it: the folder is gone when it returns without an
// error. The server must have been stopped before, politely; else the shell ends it.
func (v *supervisor) release() error {
	_ = v.pipe.Close() // the shell may be gone already; what counts is the folder
	if err := v.cmd.Wait(); err != nil {
		return fmt.Errorf("remove %s: %w", v.dir, err)
	}
	return nil
}

// makeDir makes the folder of a server, owned by the user that it runs as. A folder that cannot be
// handed over is an error here, because the server's own message about it would not name it.
func makeDir(parent string, user *credential) (string, error) {
	dir, err := os.MkdirTemp(parent, "reprise-pg-")
	if err != nil {
		return "", err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return "", err
	}
	if user != nil {
		if err := os.Chown(dir, int(user.Uid), int(user.Gid)); err != nil {
			return "", fmt.Errorf("hand %s to the server's user: %w", dir, err)
		}
	}
	return dir, nil
}
