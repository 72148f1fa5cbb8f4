package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// restateHost is where Restate's state is: its server keeps it in a folder, in a log and a store of its own. Each
// "database" is such a folder with a server on it, which runs from create to settle or drop, so that it takes nothing from
// the engines that are measured in between. It listens on sockets in that folder and on no port.
//
// This process holds a pipe to a shell, which stops the server when the pipe ends: nothing stays behind, whatever this
// process dies of.
type restateHost struct {
	binary, folder string
	made           int
	servers        map[string]*restateProcess // that run, by database
}

type restateProcess struct {
	shell *exec.Cmd
	pipe  io.WriteCloser
}

const (
	restateScheme  = "restate:"
	restateFetcher = "./restate-server" // prints where the binary is
	restateNode    = "peers"            // also the name of the folder below the base
	restateStart   = 60 * time.Second

	// A line asks for the end of the server. The end of the pipe is the end of this process, so the folder goes as well.
	restateShell = `"$@" & read -r _ || dead=yes; kill $!; wait; [ -z "$dead" ] || rm -rf "$0"`
)

// restateConfig: one partition suits one small machine. A single node needs no replicated log; the local one flushes each
// batch to disk before it acknowledges it, too. Nothing is counted, traced or sent anywhere.
const restateConfig = `
node-name = "` + restateNode + `"
cluster-name = "` + restateNode + `"
base-dir = "."
listen-mode = "unix"
shutdown-timeout = "5s"
default-num-partitions = 1
disable-telemetry = true
disable-prometheus = true
rocksdb-perf-level = "disable"
log-filter = "error"
[bifrost]
default-provider = "local"
[bifrost.local]
rocksdb-disable-wal-fsync = false
rocksdb-disable-statistics = true
[worker.storage]
rocksdb-disable-statistics = true
[log-server]
rocksdb-disable-statistics = true
[metadata-server]
rocksdb-disable-statistics = true
[admin]
disable-web-ui = true
`

// newRestateHost finds the server, and fetches it if need be.
func newRestateHost(ctx context.Context) (*restateHost, error) {
	fetcher := exec.CommandContext(ctx, restateFetcher)
	fetcher.Stderr = os.Stderr
	path, err := fetcher.Output()
	if err != nil {
		return nil, fmt.Errorf("%s, which must run in the folder of the comparison: %w", restateFetcher, err)
	}
	folder, err := os.MkdirTemp("", "reprise-peers-")
	return &restateHost{binary: strings.TrimSpace(string(path)), folder: folder, servers: map[string]*restateProcess{}}, err
}

func (h *restateHost) about() string {
	version, err := exec.Command(h.binary, "--version").Output()
	if err != nil {
		return "restate-server of unknown version"
	}
	return strings.TrimSpace(string(version)) + ", fsync on"
}

func (h *restateHost) create(ctx context.Context, template string) (string, error) {
	h.made++
	name := fmt.Sprintf("r%d", h.made)
	folder := filepath.Join(h.folder, name)
	if err := os.Mkdir(folder, 0o700); err != nil {
		return "", err
	}
	if template != "" {
		// Not its sockets: CopyFS takes regular files alone, and the server has removed them.
		if err := os.CopyFS(filepath.Join(folder, restateNode), os.DirFS(filepath.Join(h.folder, template, restateNode))); err != nil {
			return "", err
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "config.toml"), []byte(restateConfig), 0o600); err != nil {
		return "", err
	}
	return name, h.start(ctx, name, folder)
}

func (h *restateHost) start(ctx context.Context, name, folder string) error {
	log, err := os.Create(filepath.Join(folder, "log"))
	if err != nil {
		return err
	}
	defer log.Close()
	shell := exec.Command("sh", "-c", restateShell, h.folder, h.binary, "--config-file", "config.toml", "--no-logo")
	shell.Dir, shell.Stdout, shell.Stderr = folder, log, log
	shell.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + folder} // no RESTATE_… of the environment
	pipe, err := shell.StdinPipe()
	if err != nil {
		return err
	}
	if err := shell.Start(); err != nil {
		return err
	}
	h.servers[name] = &restateProcess{shell, pipe}
	ctx, cancel := context.WithTimeout(ctx, restateStart)
	defer cancel()
	admin := restateClient(h.address(name), restateAdmin)
	err = poll(ctx, func() (bool, error) {
		answer, err := admin.Get(restateURL + "/health")
		if err != nil {
			return false, nil // not yet
		}
		return answer.StatusCode == http.StatusOK, answer.Body.Close()
	})
	if err != nil {
		text, _ := os.ReadFile(log.Name())
		return fmt.Errorf("start restate-server: %w; its log: %s", err, bytes.TrimSpace(text))
	}
	return nil
}

// settle stops the server: its folder can be copied from now on.
func (h *restateHost) settle(_ context.Context, name string) error {
	s := h.servers[name]
	if s == nil {
		return nil
	}
	delete(h.servers, name)
	_, err := fmt.Fprintln(s.pipe)
	return errors.Join(err, s.pipe.Close(), s.shell.Wait())
}

func (h *restateHost) drop(ctx context.Context, name string) error {
	return errors.Join(h.settle(ctx, name), os.RemoveAll(filepath.Join(h.folder, name)))
}

func (h *restateHost) checkpoint(context.Context) error {
	syscall.Sync()
	return nil
}

func (h *restateHost) address(name string) string {
	return restateScheme + filepath.Join(h.folder, name)
}

func (h *restateHost) stop(ctx context.Context) {
	for name := range h.servers {
		_ = h.settle(ctx, name)
	}
	_ = os.RemoveAll(h.folder)
}

// Sockets of a server, and the URL for both: who is asked is the socket's matter.
const (
	restateAdmin   = "admin.sock"
	restateIngress = "ingress.sock"
	restateURL     = "http://restate"
)

// restateClient talks to a socket of the server at an address, on as many connections as there are calls.
func restateClient(address, socket string) *http.Client {
	path := filepath.Join(strings.TrimPrefix(address, restateScheme), restateNode, socket)
	return &http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: 10_000,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", path)
		},
	}}
}
