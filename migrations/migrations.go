package migrations

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"
)

//go:embed postgres/*.sql sqlite/*.sql
var files embed.FS

// DefaultSchema is the schema that the files are written for. Its name followed by a dot is the
// placeholder that [Render] replaces, so every file and statement also works as it stands in a
// default installation.
const DefaultSchema = "reprise"

// File is one migration.
type File struct {
	Version  int
	Name     string // of the file
	Checksum string // SHA-256 of the file as released, before the schema's name was put in
	Additive bool
	SQL      string // for the schema that was asked for
}

// Applied is a row of the table schema_migrations.
type Applied struct {
	Version  int
	Name     string
	Checksum string
	Additive bool
}

var (
	schemaPattern = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,62}$`)
	filePattern   = regexp.MustCompile(`^(\d{4})_[a-z0-9_]+\.sql$`)
)

// CheckSchema refuses names that cannot be put into a statement as they are.
func CheckSchema(schema string) error {
	if !schemaPattern.MatchString(schema) {
		return fmt.Errorf("schema %q: must match %s", schema, schemaPattern)
	}
	if strings.HasPrefix(schema, "pg_") || schema == "information_schema" {
		return fmt.Errorf("schema %q: the name is reserved by the server", schema)
	}
	return nil
}

// Render puts the schema's name into a statement. The name is quoted, since it may be a word of
// SQL.
func Render(sql, schema string) string {
	if schema == DefaultSchema {
		return sql
	}
	return strings.ReplaceAll(sql, DefaultSchema+".", `"`+schema+`".`)
}

// Files returns the migrations for Postgres in order, rendered for a schema.
func Files(schema string) ([]File, error) {
	if err := CheckSchema(schema); err != nil {
		return nil, err
	}
	return read(files, "postgres", schema)
}

// SQLiteFiles returns the migrations for SQLite in order. A file has no schemas, so its tables
// begin with "reprise_".
func SQLiteFiles() ([]File, error) { return read(files, "sqlite", DefaultSchema) }

// read returns the migrations of a folder. It is strict about names, numbers and first lines, so
// that a mistake in a new file fails every test that opens a store.
func read(from fs.FS, folder, schema string) ([]File, error) {
	names, err := fs.Glob(from, folder+"/*.sql") // sorted
	if err != nil {
		return nil, err
	}
	var list []File
	for _, name := range names {
		if path.Base(name) == "schema.sql" {
			continue // the dumped result, for readers
		}
		m := filePattern.FindStringSubmatch(path.Base(name))
		if m == nil {
			return nil, fmt.Errorf("migration %s: the name does not match %s", name, filePattern)
		}
		version, _ := strconv.Atoi(m[1])
		if version != len(list)+1 {
			return nil, fmt.Errorf("migration %s: expected number %04d", name, len(list)+1)
		}
		text, err := fs.ReadFile(from, name)
		if err != nil {
			return nil, err
		}
		first, _, _ := strings.Cut(string(text), "\n")
		if first != "-- additive" && first != "-- breaking" {
			return nil, fmt.Errorf("migration %s: the first line must be \"-- additive\" or \"-- breaking\"", name)
		}
		sum := sha256.Sum256(text)
		list = append(list, File{Version: version, Name: path.Base(name), Checksum: hex.EncodeToString(sum[:]),
			Additive: first == "-- additive", SQL: Render(string(text), schema)})
	}
	return list, nil
}

// ChecksumError says that an applied migration is not the one this release has.
type ChecksumError struct {
	Name, Applied, Own string // checksums
}

func (e *ChecksumError) Error() string {
	return fmt.Sprintf("migration %s was applied with checksum %.12s, but this release has %.12s: a released file must never change", e.Name, e.Applied, e.Own)
}

// NewerError says that a newer release changed the database in a way that this one cannot work
// with.
type NewerError struct {
	Name string
}

func (e *NewerError) Error() string {
	return fmt.Sprintf("database has the breaking migration %s of a newer release: update this program", e.Name)
}

// Pending returns the files that are still to be applied. Applied ones that this release does not
// know come from a newer release and are fine while they are additive.
func Pending(list []File, applied []Applied) ([]File, error) {
	done := make(map[int]bool, len(applied))
	for _, a := range applied {
		done[a.Version] = true
		switch {
		case a.Version < 1 || a.Version > len(list):
			if !a.Additive {
				return nil, &NewerError{Name: a.Name}
			}
		case list[a.Version-1].Checksum != a.Checksum:
			return nil, &ChecksumError{Name: a.Name, Applied: a.Checksum, Own: list[a.Version-1].Checksum}
		}
	}
	var pending []File
	for _, f := range list {
		if !done[f.Version] {
			pending = append(pending, f)
		}
	}
	return pending, nil
}
