package pgtest

// rule is a statement that returns one text for each violation.
type rule struct {
	name, sql string
}

// rules are what must hold in every snapshot of a database, in the order of the guarantees.
// "reprise." stands for the schema.
//
// They are written from the guarantees and not from the store's statements, so that the two can
// disagree. A rule looks at whole tables, which is no matter: databases of tests are small.
// TestCheckFindsWhatIsBroken breaks each of them once.
var rules = []rule{
	{"J1 a history is numbered from 1 without gaps", `
SELECT format('run %s generation %s has %s events from seq %s to %s', run_id, generation, count(*), min(seq), max(seq))
FROM reprise.events GROUP BY run_id, generation HAVING min(seq) <> 1 OR max(seq) <> count(*)`},

	{"J1 a history begins with RunStarted, once", `
SELECT format('run %s generation %s seq %s is of kind %s', run_id, generation, seq, kind)
FROM reprise.events WHERE (kind = 1) <> (seq = 1)
	AND NOT (seq = 1 AND kind = 23)  -- terminated by an operator before it ever ran
	AND NOT (seq = 1 AND kind = 22 AND link = 0)  -- cancelled by a limit that is full
	AND NOT (seq = 1 AND generation > 1 AND kind BETWEEN 13 AND 22)  -- which tests make of a generation without code`},

	{"J1 a generation ends with RunContinued exactly if there is a next one, or goes back", `
SELECT format('run %s of generation %s: %s generations have a next one and do not end with RunContinued, and it went back %s times',
	r.id, r.generation, ends.other, back.times)
FROM reprise.runs r CROSS JOIN LATERAL (
	SELECT count(*) FILTER (WHERE (g.generation < r.generation) <> coalesce(e.kind = 13, false)) AS other,
		coalesce(bool_or(g.generation = r.generation AND e.kind = 13), false) AS last
	FROM generate_series(1 + coalesce(( -- of a fork, whose earlier generations are those of another run
		SELECT max(substring(a.detail FROM '^of run [^,]*, generation ([0-9]+):')::int) FROM reprise.audit a
		WHERE a.run_id = r.id AND a.verb = 'fork'), 0), r.generation) AS g(generation)
	LEFT JOIN LATERAL (SELECT kind FROM reprise.events e
		WHERE e.run_id = r.id AND e.generation = g.generation ORDER BY e.seq DESC LIMIT 1) e ON true) ends
CROSS JOIN LATERAL (SELECT count(*) AS times FROM reprise.audit a WHERE a.run_id = r.id AND a.verb IN ('retry', 'reset', 'skip', 'edit')) back
WHERE ends.last OR ends.other <> back.times`},

	{"J13 a generation that went back begins with the events of the one before, or of another run, and has a row of the audit", `
SELECT format('run %s generation %s began with %s, and seq %s differs', r.id, r.generation, r.rewound, o.seq)
FROM reprise.runs r
LEFT JOIN reprise.events o ON o.run_id = coalesce((r.rewound::json ->> 'run')::uuid, r.id) AND o.generation = r.generation - 1 AND o.seq <= coalesce((r.rewound::json ->> 'seq')::int, 0)
LEFT JOIN reprise.events e ON e.run_id = r.id AND e.generation = r.generation AND e.seq = o.seq
LEFT JOIN LATERAL (SELECT min(n::int) AS first, array_agg(n::int) AS list FROM json_array_elements_text(r.rewound::json -> 'edited') n
	WHERE r.rewound::json -> 'run' IS NOT NULL) edited ON true
WHERE r.rewound IS NOT NULL AND ((r.rewound::json ->> 'from')::int <> r.generation - 1
	OR (o.seq IS NOT NULL AND ((e.at, e.cmd, e.inbox, e.issued) IS DISTINCT FROM (o.at, o.cmd, o.inbox, o.issued)
		OR (e.kind, e.payload) IS DISTINCT FROM (o.kind, o.payload) AND o.seq <> ALL (coalesce(edited.list, '{}'))
		OR (e.link = o.link) IS DISTINCT FROM (o.seq < coalesce(edited.first, o.seq + 1))))
	OR coalesce((r.rewound::json ->> 'seq')::int, 0) > (SELECT count(*) FROM reprise.events e WHERE e.run_id = r.id AND e.generation = r.generation)
	OR NOT EXISTS (SELECT FROM reprise.audit a WHERE a.run_id = r.id AND a.verb IN ('retry', 'reset', 'skip', 'edit', 'fork')))`},

	{"J1 times of a history never go back", `
SELECT format('run %s generation %s seq %s is at %s, after %s', run_id, generation, seq, at, before) FROM (
	SELECT *, lag(at) OVER (PARTITION BY run_id, generation ORDER BY seq) AS before FROM reprise.events) e
WHERE before > at`},

	{"J1 a history belongs to a run", `
SELECT DISTINCT format('run %s has events of generation %s, but its row says %s', e.run_id, e.generation, r.generation)
FROM reprise.events e LEFT JOIN reprise.runs r ON r.id = e.run_id
WHERE r.id IS NULL OR e.generation > r.generation`},

	{"J1 an event has a link, unless the run was terminated, or cancelled by a limit that is full", `
SELECT format('run %s generation %s seq %s of kind %s has link %s', run_id, generation, seq, kind, link)
FROM reprise.events e WHERE link = 0 AND kind <> 23
	AND NOT (kind = 22 AND EXISTS (SELECT FROM reprise.audit a WHERE a.run_id = e.run_id AND a.verb = 'cancel'))`},

	{"J3 an owned task has a fence that counts its claims, and a free one proves nothing", `
SELECT format('run %s has owner %s, fence %s, turn %s, unproven %s', run_id, owner, fence, turn, unproven)
FROM reprise.tasks WHERE owner < 0 OR fence < 0 OR turn < 0 OR (owner > 0 AND fence < 1 << 20) OR (owner = 0 AND unproven)`},

	{"J3 a task has the link of the newest event, if its owner has freed it, or none", `
SELECT format('the task of run %s with owner %s has link %s, its newest event %s', t.run_id, t.owner, t.link, e.link)
FROM reprise.tasks t LEFT JOIN LATERAL (SELECT e.link FROM reprise.events e
	WHERE e.run_id = t.run_id AND e.generation <= t.generation ORDER BY e.generation DESC, e.seq DESC LIMIT 1) e ON true
WHERE t.link <> 0 AND (t.owner > 0 OR t.link <> e.link)`},

	{"J3 a blocked or quarantined task has no owner when it is quarantined", `
SELECT format('run %s is in state %s with owner %s', run_id, state, owner)
FROM reprise.tasks WHERE state NOT BETWEEN -1 AND 5 OR (state = 2 AND owner <> 0)`},

	{"J14 a run that waits for its limits is never due, and one that does not wait has no claim that does", `
SELECT format('run %s is in state %s with owner %s, visible at %s, and its claim waits: %s', t.run_id, t.state, t.owner, t.visible_at, c.waits)
FROM reprise.tasks t CROSS JOIN LATERAL (SELECT EXISTS (SELECT FROM reprise.limit_claims c
	WHERE c.node = 0 AND c.run_id = t.run_id AND c.granted_at IS NULL AND NOT c.ended) AS waits) c
WHERE t.state = -1 AND (t.owner <> 0 OR t.visible_at < 'infinity' OR NOT c.waits) OR c.waits AND t.state NOT IN (-1, 3)`},

	{"J14 what a run holds ends with it", `
SELECT format('run %s has claim %s and no task', c.run_id, c.id)
FROM reprise.limit_claims c WHERE c.node = 0 AND NOT c.ended AND NOT EXISTS (SELECT FROM reprise.tasks t WHERE t.run_id = c.run_id)`},

	{"J11 a pause waits for an owner, and is made by somebody", `
SELECT format('run %s is in state %s with owner %s', t.run_id, t.state, t.owner)
FROM reprise.tasks t WHERE t.state > 2 AND (t.state > 3 AND t.owner = 0
	OR (SELECT a.verb FROM reprise.audit a WHERE a.run_id = t.run_id AND a.verb IN ('pause', 'resume') ORDER BY a.number DESC LIMIT 1) IS DISTINCT FROM 'pause')`},

	{"J5 an inbox is numbered from 1 without gaps", `
SELECT format('run %s has %s messages from %s to %s', run_id, count(*), min(number), max(number))
FROM reprise.inbox GROUP BY run_id HAVING min(number) <> 1 OR max(number) <> count(*)`},

	{"J5 a task knows the newest message", `
SELECT format('the task of run %s says %s, its inbox %s', t.run_id, t.inbox_last, coalesce(m.last, 0))
FROM reprise.tasks t LEFT JOIN (SELECT run_id, max(number) AS last FROM reprise.inbox GROUP BY run_id) m USING (run_id)
WHERE t.inbox_last <> coalesce(m.last, 0)`},

	{"J5 a generation consumes messages in order, once each", `
SELECT format('run %s generation %s seq %s consumes message %s behind %s', run_id, generation, seq, inbox, before) FROM (
	SELECT *, lag(inbox) OVER (PARTITION BY run_id, generation ORDER BY seq) AS before
	FROM reprise.events WHERE inbox IS NOT NULL) e
WHERE inbox <= before`},

	{"J5 messages are consumed without gaps", `
SELECT format('run %s generation %s consumes message %s and leaves out %s', r.id, r.generation, e.last, m.number)
FROM reprise.runs r
CROSS JOIN LATERAL (SELECT max(inbox) AS last FROM reprise.events
	WHERE run_id = r.id AND generation = r.generation AND inbox IS NOT NULL) e
JOIN reprise.inbox m ON m.run_id = r.id AND m.number < e.last
WHERE (m.number > coalesce(r.inbox_seen, 0) OR m.number = ANY (r.carried)) AND m.answered IS DISTINCT FROM 2
	AND NOT EXISTS (SELECT FROM reprise.events e WHERE e.run_id = r.id AND e.generation = r.generation AND e.inbox = m.number)`},

	{"J5 a generation consumes what it began with and what came later", `
SELECT format('run %s generation %s seq %s consumes message %s, but began behind %s with %s',
	e.run_id, e.generation, e.seq, e.inbox, r.inbox_seen, r.carried)
FROM reprise.events e JOIN reprise.runs r ON r.id = e.run_id AND r.generation = e.generation
WHERE e.inbox <= r.inbox_seen AND NOT e.inbox = ANY (coalesce(r.carried, '{}'))`},

	{"J5 a message is consumed by an event of its kind and name", `
SELECT format('run %s generation %s seq %s of kind %s %L %s consumes message %s of kind %s %L %s',
	e.run_id, e.generation, e.seq, e.kind, e.name, e.cmd, e.inbox, m.kind, m.name, m.cmd)
FROM reprise.events e LEFT JOIN reprise.inbox m ON m.run_id = e.run_id AND m.number = e.inbox
WHERE (e.kind BETWEEN 5 AND 12) <> (e.inbox IS NOT NULL)
		AND NOT (e.kind = 6 AND e.inbox IS NULL AND convert_from(e.payload, 'UTF8') LIKE '%"reprise.Timeout"%') -- the run's time was up
	OR (e.inbox IS NOT NULL AND m.kind IS NULL)
	OR (e.inbox IS NOT NULL AND e.kind <> 12 AND (e.kind <> (ARRAY[5, 6, 11, 7, 8, 9, 10])[m.kind]
		OR (coalesce(e.name, ''), coalesce(e.cmd, 0)) <> (coalesce(m.name, ''), coalesce(m.cmd, 0))))`},

	{"J5 a reply belongs to an update, and a rejected one is no event of the generation", `
SELECT format('run %s message %s of kind %s has reply %s, key %L', m.run_id, m.number, m.kind, m.answered, m.key)
FROM reprise.inbox m WHERE m.answered IS NOT NULL AND (m.kind <> 3 OR m.answered NOT IN (1, 2)
	OR (m.answered = 2) <> (m.key = '~rejected/' || m.number)
	OR m.answered = 2 AND EXISTS (SELECT FROM reprise.events e WHERE e.run_id = m.run_id AND e.inbox = m.number
		AND e.generation = (SELECT r.generation FROM reprise.runs r WHERE r.id = m.run_id)))`},

	{"J5 a message belongs to a run", `
SELECT DISTINCT format('run %s has messages and no row', m.run_id)
FROM reprise.inbox m LEFT JOIN reprise.runs r ON r.id = m.run_id WHERE r.id IS NULL`},

	{"J6 a parked task is visible if a message waits", `
SELECT format('run %s is parked until %s, but message %s waits', t.run_id, t.visible_at, t.inbox_last)
FROM reprise.tasks t
WHERE t.owner = 0 AND t.state = 0
	AND t.visible_at > clock_timestamp() -- now() may be before the snapshot, and so before a message that it shows
	AND t.strikes = 0 -- whose owners died, one after the other, is not parked: it is kept back for a while
	AND NOT EXISTS (
	SELECT FROM reprise.events e WHERE e.run_id = t.run_id AND e.generation = t.generation AND e.inbox = t.inbox_last)
	AND NOT EXISTS (SELECT FROM reprise.inbox m WHERE m.run_id = t.run_id AND m.number = t.inbox_last AND m.answered = 2)
	AND t.inbox_last > (SELECT coalesce(r.inbox_seen, 0) FROM reprise.runs r WHERE r.id = t.run_id) AND t.turn > 0`},

	{"J7 a run is closed exactly if its last event is terminal", `
SELECT format('run %s has status %s, closed_seq %s, closed_at %s and last event %s of kind %s',
	r.id, r.status, r.closed_seq, r.closed_at, e.seq, e.kind)
FROM reprise.runs r
LEFT JOIN LATERAL (SELECT seq, kind FROM reprise.events
	WHERE run_id = r.id AND generation = r.generation ORDER BY seq DESC LIMIT 1) e ON true
WHERE (r.status <> 0) <> coalesce(e.kind BETWEEN 20 AND 23, false)
	OR (r.status <> 0 AND (r.status <> e.kind - 19 OR r.closed_seq IS DISTINCT FROM e.seq OR r.closed_at IS NULL))
	OR (r.status = 0 AND (r.closed_seq IS NOT NULL OR r.closed_at IS NOT NULL))`},

	{"J7 a generation has at most one terminal event", `
SELECT format('run %s generation %s has %s terminal events', run_id, generation, count(*))
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
