package main

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal/postgres/pgserver"
)

// serverSettings of the private server: room enough that no checkpoint falls into one engine's measurement and not
// into another's. fsync stays on.
var serverSettings = map[string]string{
	"shared_buffers":     "1GB",
	"max_wal_size":       "8GB",
	"checkpoint_timeout": "30min",
}

// server makes databases on one Postgres.
type server struct {
	dsn     string
	admin   *pgx.Conn
	version string
	private *pgserver.Server // nil if the caller named a server
	made    int
}

// startServer connects to the server that dsn names, or starts a private one.
func startServer(ctx context.Context, dsn string) (*server, error) {
	s := &server{dsn: dsn}
	if dsn == "" {
		private, err := pgserver.Start(ctx, &pgserver.Options{Settings: serverSettings})
		if err != nil {
			return nil, err
		}
		s.private, s.dsn = private, private.DSN("postgres")
	}
	admin, err := pgx.Connect(ctx, s.dsn)
	if err == nil {
		s.admin = admin
		err = admin.QueryRow(ctx, `SELECT current_setting('server_version') || ', fsync ' || current_setting('fsync')
			|| ', synchronous_commit ' || current_setting('synchronous_commit')`).Scan(&s.version)
	}
	if err != nil {
		s.stop(ctx)
		return nil, err
	}
	return s, nil
}

func (s *server) about() string { return "Postgres " + s.version }

func (s *server) stop(ctx context.Context) {
	if s.admin != nil {
		s.admin.Close(ctx)
	}
	if s.private != nil {
		s.private.Stop()
	}
}

func (s *server) create(ctx context.Context, template string) (string, error) {
	s.made++
	name := fmt.Sprintf("peers_%d", s.made)
	sql := "CREATE DATABASE " + name
	if template != "" {
		sql += " TEMPLATE " + template
		var number int
		if err := s.admin.QueryRow(ctx, `SELECT current_setting('server_version_num')::int`).Scan(&number); err != nil {
			return "", err
		}
		if number >= 150000 {
			sql += " STRATEGY FILE_COPY" // the other one writes every page to the WAL
		}
	}
	if err := s.exec(ctx, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)"); err != nil {
		return "", err
	}
	return name, s.exec(ctx, sql)
}

func (s *server) drop(ctx context.Context, name string) error {
	return s.exec(ctx, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
}

func (s *server) settle(ctx context.Context, name string) error {
	conn, err := pgx.Connect(ctx, s.address(name))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, "VACUUM (ANALYZE)")
	return err
}

func (s *server) checkpoint(ctx context.Context) error { return s.exec(ctx, "CHECKPOINT") }

func (s *server) exec(ctx context.Context, sql string) error {
	if _, err := s.admin.Exec(ctx, sql); err != nil {
		return fmt.Errorf("%s: %w", sql, err)
	}
	return nil
}

func (s *server) address(database string) string {
	if s.private != nil {
		return s.private.DSN(database)
	}
	if u, err := url.Parse(s.dsn); err == nil && u.Scheme != "" {
		u.Path = "/" + database
		return u.String()
	}
	return strings.TrimSpace(s.dsn) + " dbname=" + database
}
