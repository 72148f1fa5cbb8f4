package postgres

import (
	"context"
	"hash/fnv"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/reprise-run/reprise/journal"
)

// limitStatements are those of limits: of rounds, of nodes that are gone, of operators and of
// pages.
type limitStatements struct {
	lock, try, member, remove, known, state, open, lines, insert, grant, ofNode string
	names, free, sweep                                                          string
	adminRead, set, unset, retotal, reshare, claim                              string
	list, uses, held, waiting, waitingName, waitingRun                          string
	runs                                                                        limitRunStatements
	full                                                                        limitFullStatements
	sets                                                                        limitSetStatements
	rates                                                                       limitRateStatements
}

// limitRunStatements are those of limits that runs hold.
type limitRunStatements struct {
	start, again, end, more, due, next, news, arrive, aside, begin, look, reroute, spare string
}

// limitRateStatements are those of rates that change.
type limitRateStatements struct {
	rated, ratedKey, rerate string
}

// limitSetStatements are those of sets of claims.
type limitSetStatements struct {
	list, gone, enter, move, left, halted, haltedOf, unhalt, nodes, routes string
}

// limitFullStatements are those of limits that have a MaxBacklog.
type limitFullStatements struct {
	bounded, gate, room, oldest, family string
}

// limitLocks adds statements that lock limits to pipelines, and those that free what a node has.
// class is the first key of the locks.
type limitLocks struct {
	sql   *limitStatements
	class int32
	gate  int32 // the class of gates, see limitGateSQL
}

// take takes the locks of limits for the rest of the transaction.
func (l *limitLocks) take(p *pipeline, names []string) {
	p.exec(l.sql.lock, l.class, limitHashes(names))
}

// limitHashes are the second keys of the locks of limits, sorted.
func limitHashes(names []string) []int32 {
	list := make([]int32, len(names))
	for i, name := range names {
		h := fnv.New32a()
		_, _ = h.Write([]byte(name))
		list[i] = int32(h.Sum32())
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// names adds limitNamesSQL to a pipeline, sends it and returns the names.
func (l *limitLocks) names(ctx context.Context, c *pgx.Conn, p *pipeline, node journal.NodeID, id pgtype.Int8) (names []string, err error) {
	p.query(l.sql.names, each(func(row pgx.CollectableRow) error {
		var name string
		err := row.Scan(&name)
		names = append(names, name)
		return err
	}), int32(node), id)
	return names, p.send(ctx, c)
}

// free frees what a node has that is gone, in the transaction that says so and that has the
// node's lock (J14).
func (l *limitLocks) free(p *pipeline, node journal.NodeID, names []string) {
	if len(names) > 0 {
		l.take(p, names)
		p.exec(l.sql.free, int32(node), pgtype.Int8{})
	}
}
