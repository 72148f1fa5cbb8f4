//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// freeze stops a process where it stands, and thaw lets it go on.
func freeze(p *os.Process) error { return p.Signal(syscall.SIGSTOP) }
func thaw(p *os.Process) error   { return p.Signal(syscall.SIGCONT) }

// runAsOwner makes a command run as the user who owns a folder: the files of a server must belong
// to the user that it runs as, and root hands its servers to another one.
func runAsOwner(cmd *exec.Cmd, dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fmt.Errorf("%s has no owner", dir)
	}
	if int(owner.Uid) == os.Geteuid() {
		return nil
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: owner.Uid, Gid: owner.Gid}}
	return nil
}
