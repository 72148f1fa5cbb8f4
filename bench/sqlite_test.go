package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestSQLite(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for _, scenario := range sqliteScenarios {
		t.Run(scenario, func(t *testing.T) {
			args := slices.Clone(tiny[scenario])
			if i := slices.Index(args, "-nodes"); i >= 0 {
				args = slices.Delete(args, i, i+2) // a file is for one node
			}
			var out bytes.Buffer
			if err := run(t.Context(), append(args, "-store", "sqlite", "-json", scenario), &out); err != nil {
				t.Fatal(err)
			}
			for text := range strings.Lines(out.String()) {
				var l line
				if err := json.Unmarshal([]byte(text), &l); err != nil || len(l.Figures) == 0 || l.Server["store"] != "sqlite" {
					t.Errorf("%v, %s", err, text)
				}
				if l.Counters != nil && (l.Counters.ServerCounters != nil || l.Counters.Seconds <= 0) {
					t.Errorf("counters of a server that is not there: %s", text)
				}
			}
			if out.Len() == 0 {
				t.Error("no result")
			}
		})
	}
	for _, args := range []string{"-store sqlite idle", "-store sqlite -nodes 2 chain", "-store clay chain"} {
		if err := run(t.Context(), strings.Fields(args), &bytes.Buffer{}); err == nil {
			t.Errorf("%s was accepted", args)
		}
	}
}
