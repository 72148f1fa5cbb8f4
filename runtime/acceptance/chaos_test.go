package acceptance_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/postgres/pgserver"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

const (
	chaosTimeEnv = "REPRISE_TEST_CHAOS"      // how long nodes are killed, such as "10m"; default chaosTime
	chaosSeedEnv = "REPRISE_TEST_CHAOS_SEED" // default: by the clock
	chaosTime    = 12 * time.Second
	// outageEvery is how often the database dies, but for the first time, which is in the middle of
	// a short test.
	outageEvery = 20 * time.Second
	// chaosEnd is how long the rest of the runs may take when nobody is killed any more. It is the
	// time of the longest naps and back-offs, many times over.
	chaosEnd = 90 * time.Second
)

// uproar is a cluster of worker processes, on a server of its own, that all die now and then; and
// players, who start runs of all kinds meanwhile and check what comes of them.
type uproar struct {
	*clustertest.Cluster
	server  *pgserver.Server
	workers []*worker
	asleep  *worker // stopped, beyond its lease mostly; or nil
	awake   *worker // that was asleep; or nil
	client  *runtime.Client
	asked   *runtime.Node // answers queries, and executes nothing
	random  *rand.Rand    // of the one who kills
	ctx     context.Context
	end     time.Time // of the kills
	players sync.WaitGroup
	games   sync.Map // name of a player's game to *atomic.Int32, how many were played
}

// TestTheLanguageThroughKills: worker processes and the database are killed at random moments while
// clients use the whole language: families of three levels with all close policies, runs of many
// generations, signals, updates and queries. Every call gets a definite answer, every run ends as
// it should, and every effect happens once (J1 to J10).
func TestTheLanguageThroughKills(t *testing.T) {
	t.Parallel()
	u := newUproar(t)
	for i := range 4 {
		u.player("house", i, (*player).playHouse)
		u.player("landlord", i, (*player).playLandlord)
		u.player("desk", i, (*player).playDesk)
	}
	u.player("rivals", 0, (*player).playRivals)
	u.rage()
	u.players.Wait()
	if !t.Failed() {
		clustertest.Until(t, "no run is open", func() bool {
			page, err := u.client.List(u.ctx, journal.ListFilter{Status: new(journal.Open), Limit: 1})
			return err == nil && len(page.Runs) == 0
		})
	}
	u.audit()
	u.games.Range(func(name, n any) bool {
		t.Logf("%s: %d", name, n.(*atomic.Int32).Load())
		return true
	})
}

func newUproar(t *testing.T) *uproar {
	t.Helper()
	server := clustertest.Server(t)
	var err error
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv(chaosSeedEnv); s != "" {
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	span := chaosTime
	if s := os.Getenv(chaosTimeEnv); s != "" {
		if span, err = time.ParseDuration(s); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%s=%d", chaosSeedEnv, seed)
	u := &uproar{Cluster: clustertest.On(t, server.DSN("postgres")), server: server, random: rand.New(rand.NewPCG(seed, 0))}
	conn := u.Connect()
	if _, err := conn.Exec(clustertest.Context(t), marksSchema); err != nil {
		t.Fatal(err)
	}
	u.client = runtime.NewClient(u.Journal, nil)
	u.asked = u.Run(nil, func(n *runtime.Node) { handleFamilies(n, &runtime.HandleOptions{Queue: "nobody's"}) }).Node
	for range 3 {
		u.workers = append(u.workers, startWorker(u.Cluster, leaseEnv+"=3s"))
	}
	var cancel context.CancelFunc
	u.ctx, cancel = context.WithTimeout(context.Background(), span+chaosEnd)
	t.Cleanup(cancel)
	u.end = time.Now().Add(span)
	return u
}

// player plays one game after the other until the end, with a random generator of its own.
func (u *uproar) player(game string, id int, play func(p *player) error) {
	played, _ := u.games.LoadOrStore(game, new(atomic.Int32))
	p := &player{uproar: u, name: game + "/" + strconv.Itoa(id), random: rand.New(rand.NewPCG(u.random.Uint64(), 0))}
	u.players.Go(func() {
		for ; time.Now().Before(u.end) && !u.T.Failed(); p.round++ {
			if err := play(p); err != nil {
				u.T.Errorf("%s, round %d: %v", p.name, p.round, err)
				return
			}
			played.(*atomic.Int32).Add(1)
		}
	})
}

// rage kills workers, one or more at a time, stops some, and kills the database.
func (u *uproar) rage() {
	conn := u.Connect()
	marks := func() int { return clustertest.Query[int](u.T, conn, `SELECT count(*) FROM marks`) }
	outage, kills := time.Now().Add(min(time.Until(u.end)/2, outageEvery)), 0
	for time.Now().Before(u.end) && !u.T.Failed() {
		want := marks() + 5 + u.random.IntN(60)
		clustertest.Until(u.T, "the runs moved on", func() bool { return marks() >= want || !time.Now().Before(u.end) || u.T.Failed() })
		if time.Now().After(outage) {
			outage = time.Now().Add(outageEvery)
			u.killDatabase()
			conn = u.Connect()
			continue
		}
		u.stall()
		kills += u.killWorkers(1 + u.random.IntN(4)/3 + u.random.IntN(8)/7)
	}
	if u.asleep != nil {
		u.asleep.kill() // in the middle of a transaction it would hold a run's row for as long as it sleeps
	}
	u.T.Logf("%d workers were killed", kills)
}

// stall lets a stopped worker continue, as a zombie, or stops a worker and starts another in its
// place.
func (u *uproar) stall() {
	switch {
	case u.random.IntN(3) > 0:
	case u.asleep != nil && u.awake == nil:
		u.asleep.signal(syscall.SIGCONT)
		u.asleep, u.awake = nil, u.asleep
	case u.awake != nil:
		u.awake.kill()
		u.awake = nil
	default:
		i := u.random.IntN(len(u.workers))
		u.asleep = u.workers[i]
		u.asleep.signal(syscall.SIGSTOP)
		u.workers[i] = startWorker(u.Cluster, leaseEnv+"=3s")
	}
}

func (u *uproar) killWorkers(n int) int {
	victims := u.random.Perm(len(u.workers))[:n]
	for _, v := range victims {
		u.workers[v].kill()
	}
	for _, v := range victims {
		u.workers[v] = startWorker(u.Cluster, leaseEnv+"=3s")
	}
	return n
}

// killDatabase takes the database away from everybody, for a moment or for longer than the leases.
// A worker dies meanwhile.
func (u *uproar) killDatabase() {
	if err := u.server.Kill(); err != nil {
		u.T.Fatal(err)
	}
	away := time.Duration(u.random.IntN(4500)) * time.Millisecond
	u.T.Logf("the database is away for %s", away)
	dead := u.random.IntN(len(u.workers))
	u.workers[dead].kill()
	select {
	case <-time.After(away): // nothing can be observed of it
	case <-u.ctx.Done():
	}
	if err := u.server.Restart(u.ctx); err != nil {
		u.T.Fatal(err)
	}
	pgtest.Check(u.T, u.DSN, pgtest.Schema)
	u.workers[dead] = startWorker(u.Cluster, leaseEnv+"=3s")
}

// player is a client.
type player struct {
	*uproar
	name   string
	round  int
	random *rand.Rand
}

// available repeats what the client does not repeat by itself.
func (p *player) available(fn func() error) error {
	for {
		if err := fn(); !errors.Is(err, journal.ErrUnavailable) || p.ctx.Err() != nil {
			return err
		}
	}
}

// rest is the pause between two looks.
func rest(ctx context.Context, random *rand.Rand) {
	select {
	case <-time.After(time.Duration(5+random.IntN(60)) * time.Millisecond):
	case <-ctx.Done():
	}
}

// insist repeats a call, with a short time limit each time, until the answer is definite.
func insist(ctx context.Context, random *rand.Rand, call func(ctx context.Context) error) error {
	for {
		try, cancel := context.WithTimeout(ctx, 20*time.Millisecond<<random.IntN(8))
		err := call(try)
		cancel()
		if ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, journal.ErrUnavailable) {
			return err
		}
	}
}

// audit looks at what is stored in the end.
func (u *uproar) audit() {
	pgtest.Check(u.T, u.DSN, pgtest.Schema)
	conn := u.Connect()
	for _, r := range chaosRules {
		rows, _ := conn.Query(u.ctx, r.sql) // CollectRows reports the error
		found, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			u.T.Errorf("%s: %v", r.name, err)
		}
		for i, v := range found {
			if i == 10 {
				u.T.Errorf("%s: and %d more", r.name, len(found)-i)
				break
			}
			u.T.Errorf("%s: %s", r.name, v)
		}
	}
}
