//go:build unix && !solaris && !aix

package sqlite

import (
	"errors"
	"os"
	"syscall"
)

// tryLock takes the lock without waiting. The lock belongs to the open file and not to the process,
// so a second store of this process is refused like one of another.
func tryLock(f *os.File) error { return flock(f, syscall.LOCK_EX) }

// tryShared takes the lock beside others who do so, without waiting.
func tryShared(f *os.File) error { return flock(f, syscall.LOCK_SH) }

func flock(f *os.File, how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
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
