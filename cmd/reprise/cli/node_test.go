package cli_test

import (
	"strings"
	"testing"

	"github.com/reprise-run/reprise/cmd/reprise/cli"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

// TestNodes: operators pause queues and workflows of a program that runs, see who has paused what, and
// let its node leave.
func TestNodes(t *testing.T) {
	t.Parallel()
	s, store := readSchema(t), pgtest.New(t)
	_, stop := program(t, store)
	do := func(args string, has ...string) {
		t.Helper()
		wantText(t, args, reprise(t, store, cli.ExitDone, strings.Fields(args)...).out, has...)
	}
	do("workflow pause demo.parcel --version 1 --reason INC-81", `workflow "demo.parcel" version 1: paused`)
	do("workflow list", "INC-81")
	do("workflow show demo.parcel", "version 1", "queue default, 1 nodes", "input", `"title": "parcel"`, "output")
	checkJSON(t, s, store, cli.ExitDone, "workflow", "show", "demo.parcel")
	wantText(t, "a workflow that nobody serves", reprise(t, store, cli.ExitNotFound, "workflow", "show", "nothing").err, `"nothing"`, "workflow list")
	do("queue pause default --cancel-steps", `queue "default": paused`)
	do("queue list", "INC-81", "by ")
	checkJSON(t, s, store, cli.ExitDone, "queue", "pause", "idle", "--workflow", "demo.parcel")
	do("queue list", `idle`)
	checkJSON(t, s, store, cli.ExitDone, "queue", "resume", "idle", "--workflow", "demo.parcel")
	do("queue resume default", `queue "default": resumed`)
	do("workflow resume demo.parcel --version 1", "resumed")
	if out := reprise(t, store, cli.ExitDone, "workflow", "list").out; strings.Contains(out, "INC-81") {
		t.Errorf("after the resume:\n%s", out)
	}
	wantText(t, "a version of no workflow", reprise(t, store, cli.ExitUsage, "workflow", "pause", "demo.parcel", "--version", "-1").err, "version -1")

	wantText(t, "a node that nobody knows", reprise(t, store, cli.ExitNotFound, "node", "drain", "nobody").err, `node "nobody"`, "node list")
	_, other := program(t, store)
	wantText(t, "a name that two have", reprise(t, store, cli.ExitUsage, "node", "drain", "program").err, "2 live nodes", "node list")
	other()
	checkJSON(t, s, store, cli.ExitDone, "node", "drain", "program", "--reason", "its disk fails")
	if out := reprise(t, store, cli.ExitDone, "node", "list").out; strings.Contains(out, "program") {
		t.Errorf("the node is still there:\n%s", out)
	}
	do("audit --verb drain", "node 1, program", "its disk fails")
	stop()
}
