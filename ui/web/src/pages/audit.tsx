import { useLayoutEffect, useState } from "preact/hooks";
import type { Audit } from "../api";
import { useAnswer } from "../answer";
import { call, problemOf } from "../client";
import { useFresh } from "../fresh";
import type { Page } from "../page";
import { Empty } from "../parts/empty";
import { Field } from "../parts/field";
import { Head } from "../parts/head";
import { ProblemBox } from "../parts/problem";
import { type Column, Table } from "../parts/table";
import { Text } from "../parts/text";
import { Time } from "../parts/time";
import { go, to, usePlace } from "../router";

export const page: Page = { path: "audit", title: "Audit", key: "a", view: Audits };

const verbs = ["pause", "resume", "set-labels", "set-priority", "retry", "reset", "skip", "edit", "fork", "terminate", "delete", "drain",
	"save-view", "delete-view", "set-limit", "remove-limit", "release-claim", "cancel"];

const columns: Array<Column<Audit>> = [
	{ id: "at", head: "When", kind: "first", cell: (a) => <Time at={a.at} /> },
	{ id: "actor", head: "Who", cell: (a) => a.actor && <Text max={60}>{a.actor}</Text> },
	{ id: "verb", head: "Did", cell: (a) => a.verb },
	{ id: "run", head: "Run", cell: (a) => a.run && <a class="id" href={to(["runs", a.run])} title={a.run}>…{a.run.slice(-12)}</a> },
	{ id: "workflow", head: "Workflow", cell: (a) => a.workflow && <Text max={60}>{a.workflow}</Text> },
	{ id: "why", head: "Why", kind: "wide", cell: (a) => a.reason && <Text max={300}>{a.reason}</Text> },
	{ id: "detail", head: "Detail", kind: "wide", cell: (a) => a.detail && <Text max={200}>{a.detail}</Text> },
];

const limit = 50;

function Audits() {
	const query = usePlace().query;
	const filter = { actor: query.get("actor") ?? "", verb: query.get("verb") ?? "", run: query.get("run") ?? "" };
	const first = useAnswer("GET /audit", { query: { ...filter, limit } });
	useFresh(["audit"], first.again, { limit: 1 });
	const of = JSON.stringify(filter);
	const [rest, setRest] = useState<{ of: string; list: Audit[]; done: boolean }>();
	const [problem, setProblem] = useState<unknown>();
	const mine = rest?.of === of ? rest : undefined;
	const last = mine?.list.at(-1) ?? first.answer?.at(-1);
	const done = mine ? mine.done : (first.answer?.length ?? 0) < limit;
	const more = async () => {
		try {
			const list = await call("GET /audit", { query: { ...filter, limit, before: last!.number } });
			setRest({ of, list: [...(mine?.list ?? []), ...list], done: list.length < limit });
			setProblem(undefined);
		} catch (e) {
			setProblem(e);
		}
	};
	// New entries come above: what was on the first page and has gone from it is not lost.
	const numbers = new Set((first.answer ?? []).map((a) => a.number));
	const rows = [...(first.answer ?? []), ...(mine?.list ?? []).filter((a) => !numbers.has(a.number))].sort((a, b) => b.number - a.number);
	return (
		<>
			<Head title="Audit" />
			<Filter {...filter} />
			<ProblemBox problem={first.problem} again={first.again} />
			{problem !== undefined && <ProblemBox problem={problemOf(problem)} again={more} />}
			{first.answer && rows.length === 0 ? <Empty title={of === '{"actor":"","verb":"","run":""}' ? "No operator has done anything yet." : "No entry is like this."} /> : (
				<Table label="What operators have done" columns={columns} rows={rows} keyOf={(a) => String(a.number)} busy={first.loading && !first.answer} more={done ? undefined : more} />
			)}
		</>
	);
}

function Filter({ actor, verb, run }: { actor: string; verb: string; run: string }) {
	const [typed, type] = useState({ actor, verb, run });
	useLayoutEffect(() => type({ actor, verb, run }), [actor, verb, run]); // before it is painted: behind that somebody may have typed
	const find = (f: typeof typed) => go(to(["audit"], { actor: f.actor.trim(), verb: f.verb, run: f.run.trim() }));
	return (
		<form class="filters" role="search" onSubmit={(e) => { e.preventDefault(); find(typed); }}>
			<Field label="Who"><input data-filter name="actor" value={typed.actor} onInput={(e) => type({ ...typed, actor: e.currentTarget.value })} autocomplete="off" spellcheck={false} /></Field>
			<Field label="Did"><select name="verb" value={typed.verb} onChange={(e) => { const f = { ...typed, verb: e.currentTarget.value }; type(f); find(f); }}><option value="">anything</option>{verbs.map((v) => <option key={v}>{v}</option>)}</select></Field>
			<Field label="Run"><input name="run" class="id" placeholder="id" value={typed.run} onInput={(e) => type({ ...typed, run: e.currentTarget.value })} autocomplete="off" spellcheck={false} /></Field>
			<button type="submit">Find</button>
		</form>
	);
}
