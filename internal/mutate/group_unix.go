//go:build unix

package main

import (
	"os/exec"
	"syscall"
	"time"
)

// ownGroup lets a command's end be the end of what it has started: the test binary is a child of
// the go command, and a mutant may keep it from ending.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second
}
