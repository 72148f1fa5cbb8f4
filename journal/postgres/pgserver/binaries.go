package pgserver

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// binEnv names the environment variable that tells where the binaries are. It comes first, so that
// tests can be run on a version of one's choice; a folder without a server in it is an error and
// not a reason to look elsewhere.
const binEnv = "REPRISE_PG_BIN"

// debianBins is where Debian and Ubuntu put the binaries, which are not in PATH there: several
// versions may be installed side by side.
const debianBins = "/usr/lib/postgresql/*/bin"

// findBin returns the folder that holds postgres and initdb. pg_config comes before Debian's
// folders, because it tells the version that somebody chose to put into PATH.
func findBin() (string, error) {
	if dir := os.Getenv(binEnv); dir != "" {
		if !holdsServer(dir) {
			return "", fmt.Errorf("$%s is %q, but postgres and initdb are not there", binEnv, dir)
		}
		return dir, nil
	}
	if out, err := exec.Command("pg_config", "--bindir").Output(); err == nil {
		if dir := strings.TrimSpace(string(out)); holdsServer(dir) {
			return dir, nil
		}
	}
	for _, dir := range newestFirst(debianBins) {
		if holdsServer(dir) {
			return dir, nil
		}
	}
	if path, err := exec.LookPath("postgres"); err == nil && holdsServer(filepath.Dir(path)) {
		return filepath.Dir(path), nil
	}
	return "", fmt.Errorf("no Postgres server is installed: looked for postgres and initdb in $%s, "+
		"`pg_config --bindir`, %s and PATH; on Debian or Ubuntu: apt-get install postgresql", binEnv, debianBins)
}

// holdsServer tells whether a folder has the two programs, and they can be executed.
func holdsServer(dir string) bool {
	for _, name := range []string{"postgres", "initdb"} {
		if _, err := exec.LookPath(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

// newestFirst sorts folders like /usr/lib/postgresql/15/bin by their version, as a number: 9.6
// comes after 15.
func newestFirst(pattern string) []string {
	dirs, _ := filepath.Glob(pattern) // the only error is a malformed pattern
	version := func(dir string) float64 {
		v, _ := strconv.ParseFloat(filepath.Base(filepath.Dir(dir)), 64)
		return v
	}
	slices.SortFunc(dirs, func(a, b string) int {
		switch va, vb := version(a), version(b); {
		case va > vb:
			return -1
		case va < vb:
			return 1
		}
		return 0
	})
	return dirs
}
