//go:build unix

package pgserver

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// rootRunsAs are the users that root may run the server as, best first. Postgres refuses to run as
// root. The first comes with Postgres' packages, the second is nearly everywhere.
var rootRunsAs = []string{"postgres", "nobody"}

// serverUser returns whom the server must run as, or nil for ourselves. Containers and CI often run
// as root, which Postgres refuses, so root hands the server to a user without rights.
func serverUser() (*credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	var errs error
	for _, name := range rootRunsAs {
		u, err := user.Lookup(name)
		if err != nil {
			errs = errors.Join(errs, err)
			continue
		}
		uid, errUID := strconv.ParseUint(u.Uid, 10, 32)
		gid, errGID := strconv.ParseUint(u.Gid, 10, 32)
		if err := errors.Join(errUID, errGID); err != nil {
			return nil, fmt.Errorf("user %s: %w", name, err)
		}
		return &credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, fmt.Errorf("postgres refuses to run as root, and no other user was found: %w", errs)
}

// credential is whom a process runs as.
type credential = syscall.Credential

// own makes a process run as somebody, if not nil, in a session of its own: Ctrl-C in a terminal
// reaches only this process, which then decides.
func own(cmd *exec.Cmd, user *credential) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: user}
}
