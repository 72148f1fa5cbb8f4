package cli

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/sqlite"
	"github.com/reprise-run/reprise/migrations"
)

// migrationRecord is a migration of this release, or one that a newer release has applied.
type migrationRecord struct {
	Version  int    `json:"version" doc:"number of the migration"`
	Name     string `json:"name" doc:"name of its file"`
	Additive bool   `json:"additive" doc:"whether the release before can go on working on the changed tables"`
	Applied  bool   `json:"applied" doc:"whether the database has it"`
	Known    bool   `json:"known" doc:"false if it is of a newer release"`
}

var migrationColumns = []column[migrationRecord]{
	{"VERSION", func(_ *printer, m *migrationRecord) string { return strconv.Itoa(m.Version) }},
	{"FILE", func(_ *printer, m *migrationRecord) string { return oneLine(m.Name, 80) }},
	{"KIND", func(_ *printer, m *migrationRecord) string {
		if m.Additive {
			return "additive"
		}
		return "breaking"
	}},
	{"STATE", func(_ *printer, m *migrationRecord) string {
		switch {
		case !m.Known:
			return "applied by a newer release"
		case m.Applied:
			return "applied"
		}
		return "pending"
	}},
}

// migrateGroup has the verbs about tables.
func migrateGroup(a *app) *cobra.Command {
	g := &cobra.Command{Use: "migrate", Short: "Bring the tables of a database up to date"}
	g.AddCommand(migrateStatus(a), migrateUp(a), migrateSQL(a))
	return g
}

func migrateStatus(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "status", Short: "Tell which migrations a database has, and which are pending", Args: cobra.NoArgs,
		Long: "Tell which migrations a database has, and which are pending. Nothing is changed.",
		RunE: a.opensAny(toRead, func(c *call, _ []string) error {
			list, err := c.migrations()
			if e := printList(c.out, migrationColumns, list); e != nil {
				return e
			}
			return err
		}),
	}
	return printing(c, "list of migration")
}

func migrateUp(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "up", Short: "Apply pending migrations, and make the tables if there are none", Args: cobra.NoArgs,
		Long: `Apply pending migrations, and make the schema or the file and its tables if there are
none. All are applied in one transaction. On Postgres the role needs CREATE on the
database, or an existing schema of its own; on SQLite no program may have the file open.
Without --timeout it waits as long as it takes.`,
		RunE: a.opensAny(toMigrate, func(c *call, _ []string) error { // opening has applied them
			list, err := c.migrations()
			if err != nil {
				return err
			}
			return printList(c.out, migrationColumns, list)
		}),
	}
	c.PreRunE = func(c *cobra.Command, _ []string) error {
		if !c.Flags().Changed("timeout") {
			a.timeout = 0 // an index of a large table takes as long as it takes
		}
		return nil
	}
	return printing(c, "list of migration")
}

// migrations lists what this release has and what the database has. An error beside the list says
// that they do not go together.
func (c *call) migrations() (list []migrationRecord, err error) {
	var files []migrations.File
	switch c.store.(type) {
	case *postgres.Store:
		files, err = migrations.Files(c.a.schema)
	case *sqlite.Store:
		files, err = migrations.SQLiteFiles()
	default:
		err = errors.New("this store has no tables")
	}
	if err != nil {
		return nil, err
	}
	applied, _, err := c.a.migrationsOf(c.ctx, c.store)
	has := map[int]bool{}
	for _, m := range applied {
		has[m.Version] = true
	}
	for _, f := range files {
		list = append(list, migrationRecord{Version: f.Version, Name: f.Name, Additive: f.Additive, Applied: has[f.Version], Known: true})
	}
	for _, m := range applied {
		if m.Version > len(files) {
			list = append(list, migrationRecord{Version: m.Version, Name: m.Name, Additive: m.Additive, Applied: true})
		}
	}
	return list, err
}

func migrateSQL(a *app) *cobra.Command {
	var forSQLite bool
	c := &cobra.Command{
		Use: "sql", Short: "Print the SQL of all migrations, to be read", Args: cobra.NoArgs,
		Long: `Print the SQL of all migrations, to be read before migrate up executes it, which also
records what was applied. It needs no database. --schema puts the name in.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.checkFlags(cmd); err != nil {
				return err
			}
			files, err := migrations.Files(a.schema)
			if forSQLite {
				files, err = migrations.SQLiteFiles()
			}
			for _, f := range files {
				if _, err := fmt.Fprintf(cmd.OutOrStdout(), "-- %s\n%s\n", f.Name, f.SQL); err != nil {
					return err
				}
			}
			return err
		},
	}
	c.Flags().BoolVar(&forSQLite, "sqlite", false, "the migrations for SQLite instead of those for Postgres")
	return c
}
