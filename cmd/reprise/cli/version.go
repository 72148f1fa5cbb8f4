package cli

import (
	"fmt"
	"os"
	goruntime "runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/reprise-run/reprise/migrations"
)

// versionRecord says what this program is.
type versionRecord struct {
	Version  string `json:"version" doc:"release of the module, or (devel)"`
	Revision string `json:"revision,omitempty" doc:"commit that it was built from"`
	Go       string `json:"go" doc:"release of Go"`
	Postgres string `json:"postgres_schema" doc:"newest migration for Postgres"`
	SQLite   string `json:"sqlite_schema" doc:"newest migration for SQLite"`
}

func versionVerb(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "version", Short: "Print the release, and the newest migrations that it has", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.checkFlags(cmd); err != nil {
				return err
			}
			rec, err := thisVersion()
			if err != nil {
				return err
			}
			p := &printer{w: cmd.OutOrStdout(), format: a.output}
			return printOne(p, rec, func(_ *printer, v *versionRecord) string {
				built := v.Version
				if v.Revision != "" {
					built += " of commit " + v.Revision
				}
				return fmt.Sprintf("reprise %s, %s, tables %s (Postgres), %s (SQLite)\n", built, v.Go, v.Postgres, v.SQLite)
			})
		},
	}
	return printing(c, "version")
}

// modulePath is the module whose version counts, also in a program that embeds the command.
const modulePath = "github.com/reprise-run/reprise"

func thisVersion() (*versionRecord, error) {
	rec := &versionRecord{Version: "(devel)", Go: goruntime.Version()}
	if info, ok := debug.ReadBuildInfo(); ok {
		if info.Main.Path == modulePath && info.Main.Version != "" {
			rec.Version = info.Main.Version
		}
		for _, m := range info.Deps {
			if m.Path == modulePath {
				rec.Version = m.Version
			}
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				rec.Revision = s.Value
			}
		}
	}
	files, err := migrations.Files(migrations.DefaultSchema)
	if err != nil {
		return nil, err
	}
	rec.Postgres = files[len(files)-1].Name
	if files, err = migrations.SQLiteFiles(); err != nil {
		return nil, err
	}
	rec.SQLite = files[len(files)-1].Name
	return rec, nil
}

func manVerb(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "man FOLDER", Short: "Write the manual pages into a folder", Args: cobra.ExactArgs(1),
		Long:    "Write the manual pages, one for each verb, into a folder, which is made if need be.",
		Example: "  reprise man /usr/local/share/man/man1",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true
			return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: a.o.Name, Manual: "Reprise"}, args[0])
		},
	}
}
