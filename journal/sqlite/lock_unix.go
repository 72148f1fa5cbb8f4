//go:build unix && !solaris && !aix

package sqlite

import (
	"errors"
	"os"
	"syscall"
)

// tryLock takes the lock of a file without waiting. It belongs to the open file, so it also keeps
// other stores of this process away, and the kernel releases it when the process is gone.
func tryLock(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EWOULDBLOCK):
			return errLocked
		case errors.Is(err, syscall.EINTR):
		default:
			return err
		}
	}
}

func unlock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }
