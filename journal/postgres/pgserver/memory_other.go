//go:build !linux

package pgserver

// MemoryDir is a folder for [Options.Dir] whose files are in memory, for servers whose data is
// worth nothing after a test. It is empty, which means the default, if there is none with room for
// several.
func MemoryDir() string { return "" }
