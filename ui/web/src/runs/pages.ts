import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Changes, Problem, Run } from "../api";
import { kept, useAnswer } from "../answer";
import { call, problemOf } from "../client";
import { splitOrder } from "../filter";
import { paced, soon, useLive } from "../live";

const size = 50;
// The newest runs of a list are kept as they are now, up to what a stream can have. What was loaded
// beyond them stays as it was loaded.
const freshMax = 200;
// Counting costs more than a page, so it is done this often at most, and up to a number beyond which
// only the order of magnitude matters.
const countMs = 10_000;
const countMax = 10_000;

export interface Listed {
	runs: Run[];
	loading: boolean;
	problem?: Problem;
	moreProblem?: Problem;
	again: () => void;
	more?: () => void;
	counted?: { runs: number; capped?: boolean };
}

// Of is a list, or a part of one, with the question that it answers.
interface Of {
	of: string;
	runs: Run[];
}

// useRuns lists the runs of a filter, page by page, and keeps what is shown as it is now. A stream
// that lists the same runs tells what has changed: no further question is asked then.
export function useRuns(where: string): Listed {
	const [fresh, setFresh] = useState({ where, limit: size });
	const limit = fresh.where === where ? fresh.limit : size;
	const of = JSON.stringify([where, limit]);
	const first = useAnswer("GET /runs", { query: { where, limit } });
	const count = useAnswer("GET /runs/count", { query: { where, cap: countMax } });
	const [told, setTold] = useState<Of>(); // by the stream
	const [rest, setRest] = useState<Of & { next?: string }>();
	const [moreProblem, setMoreProblem] = useState<Problem>();
	const ask = useRef({ first: first.again, count: count.again });
	ask.current = { first: first.again, count: count.again };
	const look = useRef(soon(() => ask.current.first())).current;
	const recount = useRef(paced(() => ask.current.count(), countMs)).current;
	const ordered = splitOrder(where).order !== undefined;
	useLive("GET /events", first.problem?.status === 400 ? undefined : { query: { where, limit } }, ["runs"], (name, data) => {
		if (name !== "runs") setTold(undefined); // a new connection tells everything; without one the page asks
		if (name === "open") return;
		if (name !== "runs" || ordered) look(); // where a new run stands is known of the usual order alone
		else setTold((t) => ({ of, runs: t?.of === of ? changed(t.runs, data as Changes) : kept(first.answer?.runs, (data as Changes).runs) }));
		if (name !== "runs" || membership(told, data as Changes)) recount();
	});
	const now = told?.of === of ? told.runs : first.answer?.runs;
	const before = useRef<Of>({ of: where, runs: [] }); // stays while a longer list is under way
	if (now) before.current = { of: where, runs: now };
	const head = before.current.of === where ? before.current.runs : [];
	const mine = rest?.of === where ? rest : undefined;
	const ids = new Set(head.map((r) => r.id));
	const runs = mine ? [...head, ...mine.runs.filter((r) => !ids.has(r.id))] : head;
	const next = mine ? mine.next : first.answer?.next;
	const more = useCallback(async () => {
		if (limit < freshMax) return setFresh({ where, limit: limit + size });
		try {
			const p = await call("GET /runs", { query: { where, limit: size, cursor: next } });
			setRest((r) => ({ of: where, runs: [...(r?.of === where ? r.runs : []), ...p.runs], next: p.next }));
			setMoreProblem(undefined);
		} catch (e) {
			setMoreProblem(problemOf(e));
		}
	}, [where, limit, next]);
	useEffect(() => setMoreProblem(undefined), [where]);
	return { runs, loading: first.loading && head.length === 0, problem: first.problem, moreProblem, again: first.again, more: next ? more : undefined, counted: count.answer };
}

// changed is a list, newest first, after changes.
export function changed(runs: Run[], c: Changes): Run[] {
	const byID = new Map(runs.map((r) => [r.id, r]));
	for (const id of c.gone) byID.delete(id);
	for (const r of c.runs) byID.set(r.id, kept(byID.get(r.id), r));
	return [...byID.values()].sort((a, b) => (a.id < b.id ? 1 : -1)); // ids grow with the time of the start
}

// membership tells whether other runs are on the list than before.
const membership = (told: Of | undefined, c: Changes) => c.gone.length > 0 || c.runs.some((r) => !told?.runs.some((t) => t.id === r.id));
