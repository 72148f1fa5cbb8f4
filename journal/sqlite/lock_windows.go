package sqlite

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockOffset is far behind what the holder writes, because nobody else could read a range that is
// locked.
const lockOffset = 1 << 30

// tryLock takes the lock of a file without waiting. The system releases it when the process is
// gone.
func tryLock(f *os.File) error { return lockRange(f, windows.LOCKFILE_EXCLUSIVE_LOCK) }

// tryShared takes the lock beside others who do so, without waiting.
func tryShared(f *os.File) error { return lockRange(f, 0) }

func lockRange(f *os.File, flags uint32) error {
	flags |= windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{Offset: lockOffset})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return errLocked
	}
	return err
}

func unlock(f *os.File) error {
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, &windows.Overlapped{Offset: lockOffset})
}
