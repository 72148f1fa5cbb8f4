package postgres_test

import (
	"context"
	"net"
	"sync"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

// TestKernelWatchesConnections: those that the driver dials, and those that a program dials itself.
func TestKernelWatchesConnections(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	for name, own := range map[string]bool{"dialled by the driver": false, "dialled by the program": true} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			var list []*net.TCPConn
			s := open(t, dsn, &postgres.Options{BeforeConnect: func(_ context.Context, c *pgx.ConnConfig) error {
				if own {
					c.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
						conn, err := (&net.Dialer{KeepAlive: -1}).DialContext(ctx, network, address)
						if err == nil {
							mu.Lock()
							defer mu.Unlock()
							list = append(list, conn.(*net.TCPConn))
						}
						return conn, err
					}
				}
				return nil
			}})
			join(t, driver.New(s, nil)) // opens the lifeline
			if err := s.OnPool(t.Context(), func(_ context.Context, c *pgx.Conn) error {
				mu.Lock() // the lifeline may still be dialled
				defer mu.Unlock()
				list = append(list, c.PgConn().Conn().(interface{ NetConn() net.Conn }).NetConn().(*net.TCPConn))
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, c := range list {
				raw, err := c.SyscallConn()
				if err != nil {
					t.Fatal(err)
				}
				const userTimeout = 0x12
				for option, want := range map[[2]int]int{
					{syscall.SOL_SOCKET, syscall.SO_KEEPALIVE}: 1, {syscall.IPPROTO_TCP, syscall.TCP_KEEPIDLE}: 15,
					{syscall.IPPROTO_TCP, syscall.TCP_KEEPINTVL}: 5, {syscall.IPPROTO_TCP, syscall.TCP_KEEPCNT}: 3,
					{syscall.IPPROTO_TCP, userTimeout}: 20_000,
				} {
					err := raw.Control(func(fd uintptr) {
						if got, err := syscall.GetsockoptInt(int(fd), option[0], option[1]); err != nil || got != want {
							t.Errorf("option %v is %d, %v; want %d", option, got, err, want)
						}
					})
					if err != nil {
						continue // closed meanwhile
					}
				}
			}
		})
	}
}
