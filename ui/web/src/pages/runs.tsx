import { useEffect, useRef, useState } from "preact/hooks";
import type { Run } from "../api";
import { useAnswer } from "../answer";
import { call, problemOf } from "../client";
import { soon, useLive } from "../live";
import type { Page } from "../page";
import { Badge, wordOf } from "../parts/badge";
import { Empty } from "../parts/empty";
import { Head } from "../parts/head";
import { RunLink } from "../parts/link";
import { ProblemBox } from "../parts/problem";
import { type Column, Table } from "../parts/table";
import { count, Text } from "../parts/text";
import { Duration, Time } from "../parts/time";
import { go, to, usePlace } from "../router";

export const page: Page = { path: "runs", title: "Runs", key: "r", view: Runs };

// about is the most interesting thing about a run.
const about = (r: Run) => r.problem || r.waiting?.join(", ") || "";

const columns: Array<Column<Run>> = [
	{ id: "run", head: "Run", kind: "first", cell: (r) => <RunLink run={r} /> },
	{ id: "status", head: "Status", cell: (r) => <Badge word={wordOf(r)} /> },
	{ id: "workflow", head: "Workflow", cell: (r) => <><Text max={60}>{r.workflow}</Text>{r.version > 1 && <span class="hint"> v{r.version}</span>}</> },
	{ id: "created", head: "Started", cell: (r) => <Time at={r.created_at} /> },
	{ id: "duration", head: "Took", kind: "number", cell: (r) => <Duration from={r.start_at} to={r.closed_at} /> },
	{ id: "about", head: "About", kind: "wide", cell: (r) => about(r) && <Text max={300}>{about(r)}</Text> },
];

const limit = 50;

function Runs() {
	const where = usePlace().query.get("where") ?? "";
	const [typed, type] = useState(where);
	useEffect(() => type(where), [where]);
	const first = useAnswer("GET /runs", { query: { where, limit } });
	const counted = useAnswer("GET /runs/count", { query: { where } });
	const [rest, setRest] = useState<{ of: string; runs: Run[]; next?: string }>();
	const [problem, setProblem] = useState<unknown>();
	const mine = rest?.of === where ? rest : undefined;
	const look = useRef(soon(() => {}));
	look.current = useRef(soon(() => again.current())).current;
	const again = useRef(() => {});
	again.current = () => {
		first.again();
		counted.again();
	};
	useLive("GET /events", first.problem ? undefined : { query: { where, limit } }, ["runs"], () => look.current());
	const next = mine ? mine.next : first.answer?.next;
	const more = async () => {
		try {
			const p = await call("GET /runs", { query: { where, limit, cursor: next } });
			setRest({ of: where, runs: [...(mine?.runs ?? []), ...p.runs], next: p.next });
			setProblem(undefined);
		} catch (e) {
			setProblem(e);
		}
	};
	const shown = first.answer?.runs ?? [];
	const ids = new Set(shown.map((r) => r.id));
	const rows = [...shown, ...(mine?.runs ?? []).filter((r) => !ids.has(r.id))];
	return (
		<>
			<Head title="Runs">{counted.answer && <span class="count">{count(counted.answer.runs, counted.answer.capped)}</span>}</Head>
			<form class="filter" role="search" onSubmit={(e) => { e.preventDefault(); go(to(["runs"], { where: typed.trim() })); }}>
				<input data-filter type="search" aria-label="Filter" placeholder={'status = failed and created > -1d'} value={typed} onInput={(e) => type(e.currentTarget.value)} spellcheck={false} autocomplete="off" autocapitalize="off" />
				<button type="submit">Find</button>
			</form>
			<ProblemBox problem={first.problem} again={first.again} />
			{problem !== undefined && <ProblemBox problem={problemOf(problem)} again={more} />}
			{first.answer && rows.length === 0 ? <Empty title={where ? "No run is like this." : "There are no runs yet."} /> : (
				<Table label="Runs" columns={columns} rows={rows} keyOf={(r) => r.id} busy={first.loading && !first.answer} more={next ? more : undefined} />
			)}
		</>
	);
}
