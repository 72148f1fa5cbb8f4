package pgtest

// rule is a statement that returns one text for each violation.
type rule struct {
	name, sql string
}

// rules are what must hold in every snapshot of a database. "reprise." stands for the schema.
var rules = []rule{
	{"J1 a history is numbered from 1 without gaps", `
SELECT format('run %s generation %s has %s events from seq %s to %s', run_id, generation, count(*), min(seq), max(seq))
FROM reprise.events GROUP BY run_id, generation HAVING min(seq) <> 1 OR max(seq) <> count(*)`},

	{"J1 a history begins with RunStarted, once", `
SELECT format('run %s generation %s seq %s is of kind %s', run_id, generation, seq, kind)
FROM reprise.events WHERE (kind = 1) <> (seq = 1)
	AND NOT (seq = 1 AND kind = 23)  -- terminated by an operator before it ever ran`},

	{"J1 times of a history never go back", `
SELECT format('run %s generation %s seq %s is at %s, after %s', run_id, generation, seq, at, before) FROM (
	SELECT *, lag(at) OVER (PARTITION BY run_id, generation ORDER BY seq) AS before FROM reprise.events) e
WHERE before > at`},

	{"J1 a history belongs to a run", `
SELECT DISTINCT format('run %s has events of generation %s, but its row says %s', e.run_id, e.generation, r.generation)
FROM reprise.events e LEFT JOIN reprise.runs r ON r.id = e.run_id
WHERE r.id IS NULL OR e.generation > r.generation`},

	{"J3 an owned task has a fence, and a free one proves nothing", `
SELECT format('run %s has owner %s, fence %s, turn %s, unproven %s', run_id, owner, fence, turn, unproven)
FROM reprise.tasks WHERE owner < 0 OR fence < 0 OR turn < 0 OR (owner > 0 AND fence < 1) OR (owner = 0 AND unproven)`},

	{"J3 a blocked or quarantined task has no owner when it is quarantined", `
SELECT format('run %s is in state %s with owner %s', run_id, state, owner)
FROM reprise.tasks WHERE state NOT IN (0, 1, 2) OR (state = 2 AND owner <> 0)`},

	{"J5 an inbox is numbered from 1 without gaps", `
SELECT format('run %s has %s messages from %s to %s', run_id, count(*), min(number), max(number))
FROM reprise.inbox GROUP BY run_id HAVING min(number) <> 1 OR max(number) <> count(*)`},

	{"J5 a task knows the newest message", `
SELECT format('the task of run %s says %s, its inbox %s', t.run_id, t.inbox_last, coalesce(m.last, 0))
FROM reprise.tasks t LEFT JOIN (SELECT run_id, max(number) AS last FROM reprise.inbox GROUP BY run_id) m USING (run_id)
WHERE t.inbox_last <> coalesce(m.last, 0)`},

	{"J5 messages are consumed once each, in order", `
SELECT format('run %s generation %s seq %s consumes message %s as number %s', run_id, generation, seq, inbox, place) FROM (
	SELECT *, row_number() OVER (PARTITION BY run_id ORDER BY generation, seq) AS place
	FROM reprise.events WHERE inbox IS NOT NULL) e
WHERE inbox <> place`},

	{"J5 a message is consumed by an event of its kind and name", `
SELECT format('run %s generation %s seq %s of kind %s %L consumes message %s of kind %s %L',
	e.run_id, e.generation, e.seq, e.kind, e.name, e.inbox, m.kind, m.name)
FROM reprise.events e LEFT JOIN reprise.inbox m ON m.run_id = e.run_id AND m.number = e.inbox
WHERE (e.kind IN (5, 6)) <> (e.inbox IS NOT NULL)
	OR (e.inbox IS NOT NULL AND (m.kind IS NULL OR e.kind <> m.kind + 4 OR coalesce(e.name, '') <> coalesce(m.name, '')))`},

	{"J5 a message belongs to a run", `
SELECT DISTINCT format('run %s has messages and no row', m.run_id)
FROM reprise.inbox m LEFT JOIN reprise.runs r ON r.id = m.run_id WHERE r.id IS NULL`},

	{"J6 a parked task is visible if a message waits", `
SELECT format('run %s is parked until %s, but message %s waits', t.run_id, t.visible_at, t.inbox_last)
FROM reprise.tasks t
WHERE t.owner = 0 AND t.state = 0 AND t.visible_at > now() AND NOT EXISTS (
	SELECT FROM reprise.events e WHERE e.run_id = t.run_id AND e.inbox = t.inbox_last)
	AND t.inbox_last > 0 AND t.turn > 0`},

	{"J7 a run is closed exactly if its last event is terminal", `
SELECT format('run %s has status %s, closed_seq %s, closed_at %s and last event %s of kind %s',
	r.id, r.status, r.closed_seq, r.closed_at, e.seq, e.kind)
FROM reprise.runs r
LEFT JOIN LATERAL (SELECT seq, kind FROM reprise.events
	WHERE run_id = r.id AND generation = r.generation ORDER BY seq DESC LIMIT 1) e ON true
WHERE (r.status <> 0) <> coalesce(e.kind BETWEEN 20 AND 23, false)
	OR (r.status <> 0 AND (r.status <> e.kind - 19 OR r.closed_seq IS DISTINCT FROM e.seq OR r.closed_at IS NULL))
	OR (r.status = 0 AND (r.closed_seq IS NOT NULL OR r.closed_at IS NOT NULL))`},

	{"J7 a run has at most one terminal event", `
SELECT format('run %s has %s terminal events', run_id, count(*))
FROM reprise.events WHERE kind BETWEEN 20 AND 23 GROUP BY run_id, generation HAVING count(*) > 1`},

	{"J7 a run has a task exactly while it is open, and the two agree", `
SELECT format('run %s of status %s: %s, its task: %s', coalesce(r.id, t.run_id), r.status,
	(r.workflow, r.version, r.queue, r.priority, r.generation), (t.workflow, t.version, t.queue, t.priority, t.generation))
FROM reprise.runs r FULL JOIN reprise.tasks t ON t.run_id = r.id
WHERE r.id IS NULL OR (r.status = 0) <> (t.run_id IS NOT NULL)
	OR (t.run_id IS NOT NULL AND (r.workflow, r.version, r.queue, r.priority, r.generation)
		IS DISTINCT FROM (t.workflow, t.version, t.queue, t.priority, t.generation))`},

	{"J8 a key leads to one run, and to the open one if there is one", `
SELECT format('key %L: %s holders, %s open runs', key, count(*) FILTER (WHERE holds_key), count(*) FILTER (WHERE status = 0))
FROM reprise.runs WHERE key IS NOT NULL GROUP BY key
HAVING count(*) FILTER (WHERE holds_key) > 1 OR count(*) FILTER (WHERE status = 0 AND NOT holds_key) > 0`},

	{"J9 a run starts after it was created", `
SELECT format('run %s was created at %s and starts at %s', id, created_at, start_at)
FROM reprise.runs WHERE start_at < created_at`},
}
