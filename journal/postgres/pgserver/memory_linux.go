package pgserver

import "syscall"

// memoryDir is where Linux keeps files in memory, and memoryBytes what must be free there: several
// servers of tests beside each other, with room to spare.
const (
	memoryDir   = "/dev/shm"
	memoryBytes = 4 << 30
	tmpfsMagic  = 0x01021994 // statfs(2)
)

// MemoryDir is a folder for [Options.Dir] whose files are in memory, for servers whose data is
// worth nothing after a test. It is empty, which means the default, if there is none with room for
// several.
func MemoryDir() string {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(memoryDir, &fs); err != nil || fs.Type != tmpfsMagic || fs.Bavail*uint64(fs.Bsize) < memoryBytes {
		return ""
	}
	return memoryDir
}
