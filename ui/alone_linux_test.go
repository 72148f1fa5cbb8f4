package ui_test

import (
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/reprise-run/reprise/ui/uitest"
	"golang.org/x/sys/unix"
)

// aloneEnv is set for the process that has no network.
const aloneEnv = "REPRISE_TEST_ALONE"

// TestNoRequestLeavesTheHost: every page works in a network namespace that has nothing but the
// machine's own address. The browser, the server and the node are in it.
func TestNoRequestLeavesTheHost(t *testing.T) {
	t.Parallel()
	if os.Getenv(aloneEnv) != "" {
		walkAlone(t)
		return
	}
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.count=1", "-test.v")
	c.Env = append(os.Environ(), aloneEnv+"=1")
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	if os.Getuid() != 0 { // who is somebody else may have one in a namespace of users
		c.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		c.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		c.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("in a network namespace of its own, for which one has to be root or the kernel has to allow namespaces of users: %v\n%s", err, out)
	}
	if !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("it did not run: %s", out)
	}
}

func walkAlone(t *testing.T) {
	t.Helper()
	raiseLoopback(t)
	if c, err := net.DialTimeout("tcp", "192.0.2.1:80", uitest.Patience); err == nil || !strings.Contains(err.Error(), "unreachable") {
		t.Fatalf("there is a way out: %v, %v", c, err)
	}
	s := uitest.New(t, nil)
	id := startOrder(t, s, "open", "signal", parked)
	p := uitest.Open(t, s, "runs/"+id.String())
	p.AwaitText(".why", "it waits for signal paid")
	p.AwaitText(".live", "live")
	for _, path := range pagePaths(t) {
		if strings.Contains(path, ":") {
			continue
		}
		p.Go(path)
		p.Await(`document.querySelector("main h1") && document.fonts.status === "loaded" && !document.querySelector("main [aria-busy=true], main .problem")`)
	}
	p.Press("?")
	p.AwaitText("dialog", "the filter")
}

// raiseLoopback gives the namespace the address 127.0.0.1.
func raiseLoopback(t *testing.T) {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		t.Fatal(err)
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo); err != nil {
		t.Fatalf("raise the namespace's own interface: %v", err)
	}
}
