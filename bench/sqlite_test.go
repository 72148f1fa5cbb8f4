package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestSQLite(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for _, scenario := range sqliteScenarios {
		var out bytes.Buffer
		err := run(t.Context(), []string{"-store", "sqlite", "-json", "-runs", "8", "-concurrency", "4", "-steps", "3", scenario}, &out)
		if err != nil {
			t.Errorf("%s: %v", scenario, err)
			continue
		}
		var l line
		if err := json.NewDecoder(&out).Decode(&l); err != nil || l.Scenario != scenario || len(l.Figures) == 0 || l.Server["store"] != "sqlite" {
			t.Errorf("%s: %v, %+v", scenario, err, l)
		}
	}
	for _, args := range []string{"-store sqlite idle", "-store sqlite -nodes 2 chain", "-store clay chain"} {
		if err := run(t.Context(), strings.Fields(args), &bytes.Buffer{}); err == nil {
			t.Errorf("%s was accepted", args)
		}
	}
}
