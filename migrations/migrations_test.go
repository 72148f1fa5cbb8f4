package migrations

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestFilesAreReadable(t *testing.T) {
	t.Parallel()
	list, err := Files("elsewhere")
	if err != nil {
		t.Fatal(err)
	}
	if len(list) == 0 || list[0].Name != "0001_initial.sql" {
		t.Fatalf("got %v, want the initial migration first", list)
	}
	own, err := Files(DefaultSchema)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range list {
		if strings.Contains(f.SQL, "reprise.tasks") || strings.Contains(f.SQL, "reprise.runs") {
			t.Errorf("%s names the default schema although another was asked for", f.Name)
		}
		if f.Checksum != own[i].Checksum {
			t.Errorf("%s: the checksum depends on the schema's name", f.Name)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	for name, files := range map[string][]string{
		"a gap":            {"0001_a.sql", "0003_b.sql"},
		"a number twice":   {"0001_a.sql", "0001_b.sql"},
		"a name":           {"1_a.sql"},
		"upper case":       {"0001_A.sql"},
		"a missing header": {"0001_plain.sql"},
	} {
		from := fstest.MapFS{}
		for _, f := range files {
			text := "-- additive\nSELECT 1;\n"
			if f == "0001_plain.sql" {
				text = "SELECT 1;\n"
			}
			from["postgres/"+f] = &fstest.MapFile{Data: []byte(text)}
		}
		if _, err := read(from, "postgres", DefaultSchema); err == nil {
			t.Errorf("%s was accepted: %v", name, files)
		}
	}
}

func TestCheckSchema(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"reprise", "_a", "a1_b", "order", strings.Repeat("a", 63)} {
		if err := CheckSchema(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{"", "A", "1a", "a-b", "a.b", `a"`, "a b", "ä", "pg_a", "information_schema", strings.Repeat("a", 64)} {
		if CheckSchema(bad) == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

func TestRender(t *testing.T) {
	t.Parallel()
	const sql = "SELECT reprise.readable(payload) FROM reprise.events"
	if got := Render(sql, DefaultSchema); got != sql {
		t.Errorf("the default schema changed the statement: %s", got)
	}
	want := `SELECT "order".readable(payload) FROM "order".events`
	if d := cmp.Diff(want, Render(sql, "order")); d != "" {
		t.Error(d)
	}
}

func TestPending(t *testing.T) {
	t.Parallel()
	list := []File{{Version: 1, Name: "0001_a.sql", Checksum: "one"}, {Version: 2, Name: "0002_b.sql", Checksum: "two"}}
	one, two := Applied{Version: 1, Name: "0001_a.sql", Checksum: "one", Additive: true}, Applied{Version: 2, Name: "0002_b.sql", Checksum: "two"}
	for _, c := range []struct {
		name    string
		applied []Applied
		pending []File
		err     any // a pointer to the type that is wanted
	}{
		{"nothing applied", nil, list, nil},
		{"some applied", []Applied{one}, list[1:], nil},
		{"all applied", []Applied{one, two}, nil, nil},
		{"out of order", []Applied{two}, list[:1], nil},
		{"a newer additive one", []Applied{one, two, {Version: 3, Name: "0003_c.sql", Additive: true}}, nil, nil},
		{"a newer breaking one", []Applied{one, two, {Version: 3, Name: "0003_c.sql"}}, nil, new(*NewerError)},
		{"a changed file", []Applied{{Version: 1, Name: "0001_a.sql", Checksum: "other", Additive: true}}, nil, new(*ChecksumError)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := Pending(list, c.applied)
			if c.err == nil && err != nil || c.err != nil && !errors.As(err, c.err) {
				t.Errorf("got error %v, want %T", err, c.err)
			}
			if d := cmp.Diff(c.pending, got); d != "" {
				t.Errorf("pending (-want +got):\n%s", d)
			}
		})
	}
}
