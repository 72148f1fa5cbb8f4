package sqlite

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/reprise-run/reprise/migrations"
)

// applicationID marks a file as one of Reprise ("Rprs").
const applicationID = 0x52707273

// identifyIDSQL reads what application a file says that it belongs to; 0 is nobody.
const identifyIDSQL = `PRAGMA application_id`

// identifyOwnSQL tells whether the file has the journal's tables.
const identifyOwnSQL = `SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'reprise_schema_migrations'`

// identifyOtherSQL names a table of somebody else's, if there is one.
const identifyOtherSQL = `
SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'reprise\_%' ESCAPE '\' AND name NOT LIKE 'sqlite\_%' ESCAPE '\'
ORDER BY name LIMIT 1`

// identify refuses the database of another application, before anything is changed in it. Its first
// statement is the first one that reads the file, so it also meets files that are no database.
func (s *Store) identify(c *conn) error {
	number, err := c.queryInt(identifyIDSQL)
	if err != nil {
		return err
	}
	own, err := c.queryInt(identifyOwnSQL)
	if err != nil || own == 1 || s.o.Shared {
		return err
	}
	if number != 0 && number != applicationID {
		return &ForeignError{Path: s.path, ApplicationID: int32(number)}
	}
	table := ""
	err = c.query(identifyOtherSQL, func(r row) error { table = r.text(0); return nil })
	if err == nil && table != "" {
		return &ForeignError{Path: s.path, Table: table}
	}
	return err
}

// migrateTableSQL makes the table that says what was applied. It has no migration of its own, for
// it must be there before the first.
const migrateTableSQL = `
CREATE TABLE IF NOT EXISTS reprise_schema_migrations (
    version    INTEGER PRIMARY KEY,
    name       TEXT    NOT NULL,
    checksum   TEXT    NOT NULL,
    additive   INTEGER NOT NULL,
    applied_at INTEGER NOT NULL
) STRICT`

const migrateAppliedSQL = `SELECT version, name, checksum, additive FROM reprise_schema_migrations ORDER BY version`

const migrateRecordSQL = `
INSERT INTO reprise_schema_migrations (version, name, checksum, additive, applied_at) VALUES (?, ?, ?, ?, ?)`

// migrate applies what is missing in one transaction, so a failed file leaves nothing behind.
// SQLite can roll back changes of tables like any others.
func migrate(c *conn, mark bool) error {
	list, err := migrations.SQLiteFiles()
	if err != nil {
		return err
	}
	return transact(c, func() error {
		if err := c.script(migrateTableSQL); err != nil {
			return err
		}
		applied, err := appliedMigrations(c)
		if err != nil {
			return err
		}
		pending, err := migrations.Pending(list, applied)
		if err != nil {
			return err
		}
		for _, f := range pending {
			if err := c.script(f.SQL); err != nil {
				return fmt.Errorf("migration %s: %w", f.Name, err)
			}
			_, err := c.exec(migrateRecordSQL, int64(f.Version), f.Name, f.Checksum, boolArg(f.Additive), now().UnixMicro())
			if err != nil {
				return fmt.Errorf("record migration %s: %w", f.Name, err)
			}
		}
		if mark && len(applied) == 0 {
			return c.script(fmt.Sprintf("PRAGMA application_id = %d", applicationID))
		}
		return nil
	})
}

// appliedMigrations reads the list of what was applied, which must be there.
func appliedMigrations(c *conn) (applied []migrations.Applied, err error) {
	err = c.query(migrateAppliedSQL, func(r row) error {
		applied = append(applied, migrations.Applied{Version: int(r.int(0)), Name: r.text(1), Checksum: r.text(2), Additive: r.bool(3)})
		return nil
	})
	return applied, err
}

// transact runs fn in a transaction, while nobody else uses the connection: when the store opens.
func transact(c *conn, fn func() error) error {
	if _, err := c.exec(writeBeginSQL); err != nil {
		return err
	}
	err := fn()
	if err == nil {
		_, err = c.exec(writeCommitSQL)
	}
	if err != nil {
		_, _ = c.exec(writeRollbackSQL) // fails if the failure has ended the transaction already
	}
	return err
}

// syncFolder makes the names of new files survive a power cut, where folders can be synced. Without
// it the file that was acknowledged to hold a commit could be missing from its folder afterwards.
func syncFolder(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer folder.Close()
	return folder.Sync()
}
