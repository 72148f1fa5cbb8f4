import { useEffect, useState } from "preact/hooks";
import type { Problem, Run } from "../api";
import { useAnswer } from "../answer";
import { call, problemOf } from "../client";
import { Badge, wordOf } from "../parts/badge";
import { Empty } from "../parts/empty";
import { quote, RunLink } from "../parts/link";
import { ProblemBox } from "../parts/problem";
import { count, many, Text } from "../parts/text";
import { Duration } from "../parts/time";
import { to } from "../router";
import { useRefresh } from "./values";

const pageMax = 100;
const states = ["", "open", "completed", "failed", "blocked", "paused", "cancelled", "terminated"];

// Tree lists the children of a run, and theirs.
export function Tree({ run, changed }: { run: Run; changed: number }) {
	const [state, setState] = useState("");
	const where = `parent = ${quote(run.id)}` + (state && ` and status = "${state}"`);
	const counted = useAnswer("GET /runs/count", { query: { where } });
	useRefresh(counted.again, changed);
	return (
		<div class="tree">
			<div class="bar row">
				<label class="check">Children that are <select value={state} onChange={(e) => setState(e.currentTarget.value)}>{states.map((s) => <option key={s} value={s}>{s || "in any state"}</option>)}</select></label>
				<span class="hint small" role="status">{counted.answer && many(counted.answer.runs, "child", "children", counted.answer.capped)}</span>
				<span class="row end"><a href={to(["runs"], { where })}>All of them as a list</a></span>
			</div>
			{run.parent && <p class="hint">Its parent is <RunLink run={{ id: run.parent }} /></p>}
			{counted.answer?.runs === 0 ? <Empty title={state ? "No child is like this." : "The run has started no children."} /> : <Level key={where} where={where} label="Children" changed={changed} />}
		</div>
	);
}

// Level is what one run has started. Its pages come one after the other.
function Level({ where, label, changed }: { where: string; label: string; changed: number }) {
	const [{ rows, next }, setRead] = useState<{ rows: Run[]; next?: string }>({ rows: [] });
	const [problem, setProblem] = useState<Problem>();
	const [busy, setBusy] = useState(false);
	const read = async (cursor?: string, limit = pageMax) => {
		setBusy(true);
		try {
			const page = await call("GET /runs", { query: { where: where + " order by created asc", limit, cursor } });
			// The first page may be read anew while the second one is on its way.
			setRead((had) => {
				if (!cursor) return had.rows.length > pageMax ? had : { rows: page.runs, next: page.next };
				return cursor === had.next ? { rows: [...had.rows, ...page.runs], next: page.next } : had;
			});
			setProblem(undefined);
		} catch (e) {
			setProblem(problemOf(e));
		}
		setBusy(false);
	};
	useEffect(() => {
		if (rows.length <= pageMax) void read(); // further pages stay as they were read
	}, [where, changed]);
	return (
		<>
			<ProblemBox problem={problem} again={() => read()} />
			<ul aria-label={label} aria-busy={busy}>{rows.map((r) => <Child key={r.id} run={r} />)}</ul>
			{next && <p><button type="button" disabled={busy} onClick={() => read(next)}>Show more than {count(rows.length)}</button></p>}
		</>
	);
}

function Child({ run }: { run: Run }) {
	const [open, setOpen] = useState(false);
	return (
		<li>
			<div class="child row">
				<button type="button" class="quiet twisty" aria-expanded={open} aria-label={`Children of ${run.key || run.id}`} onClick={() => setOpen(!open)}>{open ? "▾" : "▸"}</button>
				<Badge word={wordOf(run)} /> <RunLink run={run} /> <span class="soft"><Text max={60}>{run.workflow}</Text></span>
				<span class="soft small"><Duration from={run.start_at} to={run.closed_at} /></span>
				{(run.problem || run.waiting) && <span class="about"><Text max={160}>{run.problem || run.waiting!.join(", ")}</Text></span>}
			</div>
			{open && <Level where={`parent = ${quote(run.id)}`} label={`Children of ${run.key || run.id}`} changed={0} />}
		</li>
	);
}
