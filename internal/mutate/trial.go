package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"
)

// verdict is what became of a mutant.
type verdict string

const (
	killed   verdict = "killed"
	survived verdict = "survived"
	timedOut verdict = "timed out"
	invalid  verdict = "does not compile" // or cannot be prepared
)

// A tier may take as long with a mutant as it took without one, several times, as the machine may
// be busier by then. A mutant that hangs costs this time.
const (
	limitFactor = 3
	limitFloor  = 30 * time.Second
	compileMax  = 5 * time.Minute
)

// failures are the names of tests that failed, in the output of `go test`.
var failures = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

// baseline runs each tier on the unchanged tree. A tier that fails without a mutant would kill
// every mutant, so it is an error.
func (t *tree) baseline(ctx context.Context, all []guarded) (map[string]time.Duration, error) {
	known := map[string]time.Duration{}
	for _, g := range all {
		for _, tier := range append([]tier{statements}, g.tiers...) {
			if known[tier.String()] > 0 || tier.String() == statements.String() && g.folder != "journal/postgres" {
				continue
			}
			began := time.Now()
			v, output := t.test(ctx, tier, 10*time.Minute)
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if v != survived {
				return nil, fmt.Errorf("%s: %s without a mutant:\n%s", tier, v, output)
			}
			known[tier.String()] = limitFloor + limitFactor*time.Since(began)
			fmt.Printf("%s: passes in %.0f s\n", tier, time.Since(began).Seconds())
		}
	}
	return known, nil
}

// try runs the tiers until one of them notices the mutant, which is in the tree.
func (t *tree) try(ctx context.Context, m *mutant, tiers []tier, allowed func(tier) time.Duration) answer {
	began := time.Now()
	a := answer{Mutant: m.name(), Verdict: survived}
	if m.isSQL {
		if v, _ := t.test(ctx, statements, allowed(statements)); v != survived {
			a.Verdict = invalid
			return a
		}
	}
	for _, tier := range tiers {
		v, output := t.test(ctx, tier, allowed(tier))
		a.Tests = append(a.Tests, tier.String())
		if v != survived {
			a.Verdict, a.By = v, failed(output)
			break
		}
	}
	a.Seconds = time.Since(began).Seconds()
	return a
}

// test runs a tier and tells what its end says about the tree. The first failure ends it: tests
// that run beside the one that failed are not waited for.
func (t *tree) test(ctx context.Context, tier tier, limit time.Duration) (verdict, string) {
	args := []string{"test", "-v", "-count=1", "-vet=off", "-timeout", limit.String()}
	if tier.run != "" {
		args = append(args, "-run", tier.run)
	}
	if tier.skip != "" {
		args = append(args, "-skip", tier.skip)
	}
	// Compiling is not counted in the limit of go test.
	ctx, cancel := context.WithTimeout(ctx, limit+compileMax)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", append(args, tier.packages...)...)
	cmd.Dir = t.root
	ownGroup(cmd)
	watched := &output{failed: cancel}
	cmd.Stdout, cmd.Stderr = watched, watched
	err := cmd.Run()
	said := watched.String()
	switch {
	case err == nil:
		return survived, said
	case strings.Contains(said, "[build failed]") || strings.Contains(said, "[setup failed]"):
		return invalid, said
	case strings.Contains(said, "panic: test timed out after") || !watched.seen && ctx.Err() != nil:
		return timedOut, said
	default:
		return killed, said
	}
}

// output keeps what a command prints, and calls failed when it reports the first failure.
type output struct {
	bytes.Buffer
	failed func()
	seen   bool
	line   int // where the last line begins that is not complete
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	n, err := o.Buffer.Write(p)
	text := o.Bytes()
	for end := bytes.IndexByte(text[o.line:], '\n'); end >= 0; end = bytes.IndexByte(text[o.line:], '\n') {
		if line := text[o.line : o.line+end]; !o.seen && failures.Match(line) {
			o.seen = true
			o.failed()
		}
		o.line += end + 1
	}
	return n, err
}

// failed names the tests that failed, the innermost where a test has others inside it; of a process
// that ended without naming one, the last words.
func failed(output string) []string {
	var all, names []string
	for _, f := range failures.FindAllStringSubmatch(output, -1) {
		all = append(all, f[1])
	}
	for _, name := range all {
		if !slices.ContainsFunc(all, func(other string) bool { return strings.HasPrefix(other, name+"/") }) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return []string{oneLine(output[max(0, len(output)-160):])}
	}
	return names[:min(len(names), 5)]
}
