package acceptance_test

// chaosRules are statements that return one text for each thing that is not as it should be when
// all runs have ended. Status 1 is completed, 2 failed, 3 cancelled, 4 terminated. Policy 0 (or
// null) is to cancel, 1 to terminate, 2 to abandon.
var chaosRules = []struct{ name, sql string }{
	{"J7 every run ends", `
SELECT format('run %s of %s is open; its task: owner %s, state %s, visible at %s, %s', r.id, r.workflow, t.owner, t.state, t.visible_at, t.problem)
FROM reprise.runs r LEFT JOIN reprise.tasks t ON t.run_id = r.id WHERE r.status = 0 OR t.run_id IS NOT NULL`},

	{"a run ends as it should", `
SELECT format('run %s of %s, policy %s, has status %s: %s', r.id, r.workflow, r.parent_policy, r.status,
	(SELECT convert_from(e.payload, 'UTF8') FROM reprise.events e WHERE e.run_id = r.id AND e.kind >= 20))
FROM reprise.runs r
WHERE r.status <> CASE
	WHEN r.workflow = 'landlord' THEN CASE convert_from(r.input, 'UTF8')
		WHEN '"failed"' THEN 2 WHEN '"cancelled"' THEN 3 WHEN '"terminated"' THEN 4 ELSE 1 END
	WHEN r.workflow = 'tenant' THEN (ARRAY[3, 4, 1])[coalesce(r.parent_policy, 0) + 1]
	WHEN r.workflow = 'twig' AND convert_from(r.input, 'UTF8') LIKE '-%' THEN 2
	ELSE 1 END`},

	{"J2 every child is started, once", `
SELECT format('run %s of %s has %s children', r.id, r.workflow, count(c.id))
FROM reprise.runs r LEFT JOIN reprise.runs c ON c.parent_run = r.id GROUP BY r.id
HAVING count(c.id) <> CASE r.workflow
	WHEN 'house' THEN 4 WHEN 'branch' THEN 2 WHEN 'landlord' THEN 3
	WHEN 'tenant' THEN CASE convert_from(r.input, 'UTF8') WHEN '1' THEN 3 ELSE 0 END
	WHEN 'desk' THEN 1 + (r.generation + 3) / 4
	WHEN 'rival' THEN count(c.id) ELSE 0 END`},

	{"J8 one rival has a child", `
SELECT format('key %s has %s children', key, count(*)) FROM reprise.runs WHERE key LIKE 'rivals/%' GROUP BY key HAVING count(*) <> 1`},

	{"a child outlives its parent only if it may", `
SELECT format('run %s of policy %s closed at %s in %s, its parent at %s in %s', c.id, c.parent_policy, c.closed_at, c.xmin, p.closed_at, p.xmin)
FROM reprise.runs c JOIN reprise.runs p ON p.id = c.parent_run
WHERE c.workflow = 'tenant' AND (
	c.parent_policy = 1 AND c.xmin <> p.xmin
	OR coalesce(c.parent_policy, 0) = 0 AND NOT EXISTS (SELECT FROM reprise.inbox m WHERE m.run_id = c.id AND m.kind = 2))`},

	{"an effect happens once", `
SELECT format('run %s: %L %s times, in processes %s', run, what, count(*), array_agg(pid)) FROM marks GROUP BY run, what HAVING count(*) > 1`},

	{"an effect belongs to its event, and every such event has its effect", `
SELECT format('run %s: %L: mark of %s, step of %s', coalesce(m.run, e.run_id), coalesce(m.what, e.name), m.run, e.run_id)
FROM (SELECT run_id, name, generation FROM reprise.events WHERE kind = 2) e
FULL JOIN marks m ON m.run = e.run_id AND m.what = e.name WHERE m.run IS NULL OR e.run_id IS NULL`},

	{"a run has all of its effects", `
SELECT format('run %s of %s has %s effects: %s', r.id, r.workflow, count(m.what), array_agg(m.what))
FROM reprise.runs r LEFT JOIN marks m ON m.run = r.id AND m.what NOT LIKE 'post %' GROUP BY r.id
HAVING count(m.what) <> CASE r.workflow
	WHEN 'twig' THEN 2 WHEN 'courier' THEN 6 WHEN 'desk' THEN 24
	WHEN 'landlord' THEN r.generation
	WHEN 'tenant' THEN CASE r.status WHEN 3 THEN 2 ELSE 1 END
	ELSE 1 END`},

	{"a side effect has one value", `
SELECT format('run %s: %s', run, array_agg(value)) FROM marks WHERE what LIKE 'twig %' GROUP BY run HAVING count(DISTINCT value) > 1`},

	{"J5 no signal is lost or doubled", `
SELECT format('run %s of %s has %s numbered signals', r.id, r.workflow, count(m.number))
FROM reprise.runs r LEFT JOIN reprise.inbox m ON m.run_id = r.id AND m.kind = 1 AND m.name = 'dated'
WHERE r.workflow = 'desk' GROUP BY r.id HAVING count(m.number) <> 72`},

	{"J5 no answer of a child is lost", `
SELECT format('run %s of %s: child %s has ended, and there is no message', p.id, p.workflow, c.id)
FROM reprise.runs c JOIN reprise.runs p ON p.id = c.parent_run AND p.closed_at > c.closed_at + interval '1 second' AND c.xmin <> p.xmin
WHERE NOT EXISTS (SELECT FROM reprise.inbox m WHERE m.run_id = p.id AND m.kind IN (4, 5) AND m.cmd = c.parent_cmd
	AND m.generation = c.parent_generation)`},

	{"an update with a mark has an answer", `
SELECT format('run %s: %s posts, %s answers', r.id, (SELECT count(*) FROM marks m WHERE m.run = r.id AND m.what LIKE 'post %'), count(m.number))
FROM reprise.runs r LEFT JOIN reprise.inbox m ON m.run_id = r.id AND m.kind = 3 AND m.answered = 1
WHERE r.workflow = 'desk' GROUP BY r.id
HAVING count(m.number) <> (SELECT count(*) FROM marks m WHERE m.run = r.id AND m.what LIKE 'post %')`},
}
