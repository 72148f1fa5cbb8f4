//go:build !unix

package main

import (
	"os/exec"
	"time"
)

// ownGroup bounds the wait for what a command has started and left behind.
func ownGroup(cmd *exec.Cmd) { cmd.WaitDelay = 10 * time.Second }
