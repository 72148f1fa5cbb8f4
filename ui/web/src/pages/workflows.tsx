import { useMemo } from "preact/hooks";
import type { Served, Tally } from "../api";
import { useAnswer } from "../answer";
import { useFresh } from "../fresh";
import type { Page } from "../page";
import { Act, useAsk } from "../parts/act";
import { Empty } from "../parts/empty";
import { Head } from "../parts/head";
import { Found, quote } from "../parts/link";
import { Pauses, pausing } from "../parts/pauses";
import { ProblemBox } from "../parts/problem";
import { type Column, Table } from "../parts/table";
import { count, many, Text } from "../parts/text";
import { to } from "../router";

export const page: Page = { path: "workflows", title: "Workflows", key: "w", view: Workflows };

// own tells a workflow of the runtime's, which stands behind those of the program.
export const own = (workflow: string) => workflow.startsWith("reprise.");

// Row is a workflow of a version in a queue: who serves it, and its open runs.
export interface Row extends Served {
	open: number;
	capped: boolean;
}

// joined puts the open runs of each route to those who serve it. What has runs and no node stands
// first: nobody else tells of it.
export function joined(served: Served[] | undefined, tally: Tally | undefined): Row[] {
	const rows = new Map<string, Row>();
	const keyOf = (queue: string, workflow: string, version: number) => `${queue}\n${workflow}\n${version}`;
	for (const s of served ?? []) rows.set(keyOf(s.queue, s.workflow, s.version), { ...s, open: 0, capped: !!tally?.capped });
	for (const g of tally?.groups ?? []) {
		const { queue = "", workflow = "", version = "" } = g.values ?? {};
		const key = keyOf(queue, workflow, Number(version));
		rows.set(key, { ...(rows.get(key) ?? { queue, workflow, version: Number(version), nodes: [], capped: !!tally?.capped }), open: g.runs });
	}
	const left = (r: Row) => (r.nodes.length === 0 && r.open > 0 ? 0 : own(r.workflow) ? 2 : 1);
	return [...rows.values()].sort((a, b) => left(a) - left(b) || a.workflow.localeCompare(b.workflow) || b.version - a.version || a.queue.localeCompare(b.queue));
}

export const whereOf = (r: Served) => `workflow = ${quote(r.workflow)} and version = ${r.version} and queue = ${quote(r.queue)} and status = open`;

// useRows asks who serves what, and how many runs are open.
export function useRows(workflow?: string) {
	const served = useAnswer("GET /workflows", {});
	const open = useAnswer("GET /runs/count", { query: { by: ["workflow", "version", "queue"], where: "status = open" + (workflow === undefined ? "" : ` and workflow = ${quote(workflow)}`) } });
	const pauses = useAnswer("GET /pauses", {});
	const again = (old?: unknown) => {
		served.again(old);
		open.again(old);
		pauses.again(old);
	};
	useFresh(["nodes", "pauses", "runs"], again, { ms: 2000 });
	const all = useMemo(() => joined(served.answer, open.answer), [served.answer, open.answer]);
	const rows = useMemo(() => (workflow === undefined ? all.filter((r) => r.workflow) : all.filter((r) => r.workflow === workflow)), [all, workflow]);
	return { rows, pauses: pauses.answer?.filter((p) => p.workflow && (workflow === undefined || p.workflow === workflow)), problem: served.problem ?? open.problem ?? pauses.problem, again, known: served.answer && open.answer };
}

// By names who serves a route.
export function By({ row: r }: { row: Row }) {
	return (
		<>
			{r.nodes.length > 0 && <Text max={200}>{r.nodes.join(", ")}</Text>}
			{r.nodes.length === 0 && (r.open > 0 ? <strong class="bad">no node serves it</strong> : <span class="none">no node</span>)}
			{r.paused && <p class="hint">paused <Text max={200}>{r.paused}</Text></p>}
		</>
	);
}

function Workflows() {
	const { rows, pauses, problem, again, known } = useRows();
	const [ask, asked] = useAsk();
	const now = useMemo(() => ({ again }), []);
	now.again = again;
	const columns = useMemo((): Array<Column<Row>> => [
		{ id: "workflow", head: "Workflow", kind: "first", cell: (r) => <a href={to(["workflows", r.workflow])}><Text max={60}>{r.workflow}</Text></a> },
		{ id: "version", head: "Version", kind: "number", cell: (r) => r.version || <span class="none">any</span> },
		{ id: "queue", head: "Queue", cell: (r) => r.queue && <Text max={60}>{r.queue}</Text> },
		{ id: "open", head: "Open", kind: "number", cell: (r) => (r.open ? <Found where={whereOf(r)}>{count(r.open, r.capped)}</Found> : "0") },
		{ id: "nodes", head: "Served by", kind: "wide", cell: (r) => <By row={r} /> },
		{ id: "do", head: "Actions", cell: (r) => <Act verb="workflow pause" of={{ workflow: r.workflow }} quiet label={`Pause workflow ${r.workflow}`} act={() => ask(pausing({ workflow: r.workflow }, () => now.again()))}>Pause</Act> },
	], []);
	const unserved = rows.filter((r) => r.nodes.length === 0 && r.open > 0);
	return (
		<>
			<Head title="Workflows">{known && <span class="count">{many(new Set(rows.map((r) => r.workflow)).size, "workflow")}</span>}</Head>
			<ProblemBox problem={problem} again={again} />
			<Pauses list={pauses} ask={ask} done={again} />
			{unserved.length > 0 && <p class="notice bad">{many(unserved.length, "version has", "versions have")} open runs and no node that serves {unserved.length === 1 ? "it" : "them"}.</p>}
			{known && rows.length === 0 ? <Empty title="No node serves a workflow, and no run is open." /> : (
				<Table label="Workflows" columns={columns} rows={rows} keyOf={(r) => `${r.queue}\n${r.workflow}\n${r.version}`} busy={!known && !problem} />
			)}
			{asked}
		</>
	);
}
