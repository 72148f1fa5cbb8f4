package pgserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Limits of a pooler's start. The settings are for tests of large clusters: clients in any number,
// and servers enough for them, since what waits for a server tests nothing but patience.
const (
	poolerClients = "2000"
	poolerServers = "60"
)

// PoolerOptions of a Pooler.
type PoolerOptions struct {
	Mode     string            // of pooling: "transaction", "session" or "statement"; the default is the first
	Settings map[string]string // more settings of PgBouncer, such as "default_pool_size"
}

// Pooler is a running PgBouncer before a server. As a pooler of production does, it gives all
// clients of a database and a user the same few sessions of the server.
type Pooler struct {
	dir  string
	host string
	cmd  *exec.Cmd
	pipe io.Closer // the standard input of the shell; closing it ends the pooler
}

// poolerScript runs the pooler until standard input ends, however that comes about: if this process
// dies, nothing stays behind.
const poolerScript = `
PATH="$PATH:/usr/bin:/bin"
trap '' INT TERM HUP
"$1" "$2/ini" >"$2/out" 2>&1 </dev/null &
pid=$!
while read -r _; do :; done
kill -KILL "$pid" 2>/dev/null
wait "$pid" 2>/dev/null
exit 0
`

// poolerINI trusts whoever connects, like the server behind it.
const poolerINI = `[databases]
* = host=%s port=%s user=%s
[pgbouncer]
`

// StartPooler runs a PgBouncer before the server of dsn, for all of its databases. It returns when
// the pooler takes connections. The caller must Stop it.
func StartPooler(ctx context.Context, dsn string, o PoolerOptions) (*Pooler, error) {
	bin, err := findPooler()
	if err != nil {
		return nil, err
	}
	user, err := serverUser()
	if err != nil {
		return nil, err
	}
	var errs error
	for range portTriesMax { // somebody else may take the port before the pooler does
		p, err := startPooler(ctx, bin, dsn, user, o)
		if err == nil {
			return p, nil
		}
		errs = errors.Join(errs, err)
	}
	return nil, fmt.Errorf("start pgbouncer: %w", errs)
}

// findPooler returns the program. Debian puts it where only root looks.
func findPooler() (string, error) {
	for _, name := range []string{"pgbouncer", "/usr/sbin/pgbouncer", "/usr/local/sbin/pgbouncer"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("pgbouncer is not installed: looked in PATH, /usr/sbin and /usr/local/sbin; run .ci/prepare, or apt-get install pgbouncer")
}

func startPooler(ctx context.Context, bin, dsn string, user *credential, o PoolerOptions) (*Pooler, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	dir, err := makeDir("", user)
	if err != nil {
		return nil, err
	}
	p := &Pooler{dir: dir, host: fmt.Sprintf("127.0.0.1:%d", port)}
	ini, err := poolerConfig(dsn, port, o)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "ini"), []byte(ini), 0o644)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	p.cmd = exec.Command("/bin/sh", "-c", poolerScript, "sh", bin, dir)
	p.cmd.Dir, p.cmd.Env = dir, serverEnv()
	own(p.cmd, user)
	if p.pipe, err = p.cmd.StdinPipe(); err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := p.waitReady(ctx); err != nil {
		log, _ := os.ReadFile(filepath.Join(dir, "out"))
		return nil, errors.Join(fmt.Errorf("%w; its output: %s", err, bytes.TrimSpace(log)), p.Stop())
	}
	return p, nil
}

// poolerConfig is the text of the configuration.
func poolerConfig(dsn string, port int, o PoolerOptions) (string, error) {
	u, err := url.Parse(dsn)
	if err != nil {
		return "", err
	}
	settings := map[string]string{
		"listen_addr": "127.0.0.1", "listen_port": fmt.Sprint(port), "unix_socket_dir": "", "auth_type": "any",
		"pool_mode": "transaction", "max_client_conn": poolerClients, "default_pool_size": poolerServers,
	}
	if o.Mode != "" {
		settings["pool_mode"] = o.Mode
	}
	maps.Copy(settings, o.Settings)
	serverPort := u.Port()
	if serverPort == "" {
		serverPort = "5432"
	}
	var b strings.Builder
	fmt.Fprintf(&b, poolerINI, u.Hostname(), serverPort, u.User.Username())
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		fmt.Fprintf(&b, "%s = %s\n", name, settings[name])
	}
	return b.String(), nil
}

// waitReady polls until the pooler takes connections.
func (p *Pooler) waitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, stopWait)
	defer cancel()
	tick := time.NewTicker(readyPoll)
	defer tick.Stop()
	for {
		conn, err := net.Dial("tcp", p.host)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("it takes no connections: %w: %w", ctx.Err(), err)
		}
	}
}

// DSN returns the address, through the pooler, of the database that dsn names.
func (p *Pooler) DSN(dsn string) string {
	u, err := url.Parse(dsn)
	if err != nil {
		return dsn // whoever connects to it says what is wrong
	}
	u.Host = p.host
	q := u.Query()
	q.Set("sslmode", "disable")
	u.RawQuery = q.Encode()
	return u.String()
}

// Stop ends the pooler and removes its folder.
func (p *Pooler) Stop() error {
	_ = p.pipe.Close()
	return errors.Join(p.cmd.Wait(), os.RemoveAll(p.dir))
}
