package cli_test

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// mountsEnv names the folder on which this process, which has mounts of its own, is to mount a disk.
const mountsEnv = "REPRISE_TEST_MOUNTS"

// exitNoMounts is how the process ends if it may not.
const exitNoMounts = 77

// TestFullDisk executes the incident of docs/incidents.md about a full disk. The disk is a real
// one, of two megabytes. It is mounted where no other process sees it, which takes a process of its
// own: root may do that, and others where the kernel lets them be root among themselves.
func TestFullDisk(t *testing.T) {
	if folder := os.Getenv(mountsEnv); folder != "" {
		walkFullDisk(t, folder)
		return
	}
	t.Parallel()
	var refused error
	for _, flags := range []uintptr{syscall.CLONE_NEWNS, syscall.CLONE_NEWNS | syscall.CLONE_NEWUSER} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFullDisk$", "-test.timeout=5m")
		cmd.Env = append(os.Environ(), mountsEnv+"="+t.TempDir())
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Cloneflags: flags}
		if flags&syscall.CLONE_NEWUSER != 0 {
			cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
			cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
		}
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() == exitNoMounts {
			refused = errors.Join(refused, err)
			continue
		}
		if err != nil {
			t.Errorf("%v:\n%s", err, out)
		}
		return
	}
	t.Fatalf("this machine lets nobody mount a disk, which the test needs: %v", refused)
}

func walkFullDisk(t *testing.T, folder string) {
	data := filepath.Join(folder, "data")
	if err := os.Mkdir(data, 0o755); err != nil {
		t.Fatal(err)
	}
	// What SQLite writes ahead is some megabytes before it is copied: there must be room for it once
	// the other file is gone, however many orders have come.
	if err := syscall.Mount("tmpfs", data, "tmpfs", 0, "size=32m"); errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) {
		os.Exit(exitNoMounts)
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(data, syscall.MNT_DETACH) })
	s := newShell(t, "REPRISE_STORE=data/shop.db")
	s.dir = folder
	log := &clustertest.Log{}
	slog.SetDefault(slog.New(slog.NewTextHandler(log, nil))) // of this process, which does nothing else
	node, stop := clustertest.SQLiteNode(t, filepath.Join(data, "shop.db"), log, func(n *runtime.Node) {
		runtime.Handle(n, orders, func(ctx workflow.Context, _ string) (string, error) { return "packed", steps(ctx, "reserve", "pack") }, nil)
	})
	until := func(what string) {
		t.Helper()
		clustertest.Until(t, "the log says "+what, func() bool { return strings.Contains(log.String(), what) })
		if err := os.WriteFile(filepath.Join(s.dir, "shop.log"), []byte(log.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}

	fill(t, filepath.Join(data, "exports-2025.tar"))
	var enough atomic.Bool
	accepted := make(chan int)
	go func() { // customers do not know of disks
		n := 0
		for ; !enough.Load(); n++ {
			_, err := runtime.Start(clustertest.Context(t), node.Client(), orders, "", &runtime.StartOptions{Key: fmt.Sprint("order:", n)})
			if err != nil {
				t.Error(err)
				break
			}
		}
		accepted <- n
	}()
	until("the store is unavailable")

	list := readWalkthroughs(t, "../../../docs/incidents.md")
	for _, w := range list {
		if w.title != "12. The disk is full" {
			continue
		}
		walk(t, w, s, map[string]func(){"a moment later": func() {
			until("the store answers again")
			enough.Store(true)
			n := <-accepted
			done := func() int {
				page, err := node.Client().List(clustertest.Context(t), journal.ListFilter{Status: new(journal.Completed), Limit: journal.ListMax})
				if err != nil {
					t.Fatal(err)
				}
				return len(page.Runs)
			}
			clustertest.Until(t, fmt.Sprintf("%d orders are completed", n), func() bool { return done() == n })
		}})
		stop()
		return
	}
	t.Error("the page has no incident about a full disk")
}

// fill writes a file until there is no room.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := io.Copy(f, zeros{}); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
}

// zeros has no end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
