import { useMemo } from "preact/hooks";
import type { Queue } from "../api";
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
import { Time } from "../parts/time";
import { to } from "../router";
import { own } from "./workflows";

export const page: Page = { path: "queues", title: "Queues", key: "q", view: Queues };

// A queue changes with every step. It is looked at no more often than this.
const lookMs = 2000;

function Queues() {
	const queues = useAnswer("GET /queues", {});
	const pauses = useAnswer("GET /pauses", {});
	const again = (old?: unknown) => {
		queues.again(old);
		pauses.again(old);
	};
	useFresh(["runs", "nodes", "pauses"], again, { ms: lookMs });
	const [ask, asked] = useAsk();
	const now = useMemo(() => ({ again }), []);
	now.again = again;
	const columns = useMemo((): Array<Column<Queue>> => [
		{ id: "queue", head: "Queue", kind: "first", cell: (q) => <>{q.queue ? <Text max={60}>{q.queue}</Text> : <span class="none">any queue</span>}</> },
		{ id: "workflow", head: "Workflow", cell: (q) => q.workflow && <><a href={to(["workflows", q.workflow])}><Text max={60}>{q.workflow}</Text></a>{q.version ? ` v${q.version}` : ""}</> },
		{ id: "due", head: "Waits", kind: "number", cell: (q) => (q.due ? <Found where={whereOf(q)}>{count(q.due, q.capped)}</Found> : "0") },
		{ id: "oldest", head: "Oldest", cell: (q) => q.oldest_at && <Time at={q.oldest_at} /> },
		{ id: "nodes", head: "Served by", kind: "wide", cell: (q) => <By queue={q} /> },
		{ id: "do", head: "Actions", cell: (q) => q.workflow && q.queue && <Act verb="workflow pause" of={{ workflow: q.workflow, queue: q.queue }} quiet label={`Pause ${q.workflow} in queue ${q.queue}`} act={() => ask(pausing({ queue: q.queue, workflow: q.workflow }, () => now.again()))}>Pause</Act> },
	], []);
	const list = useMemo(() => [...(queues.answer ?? [])].sort((a, b) => Number(own(a.workflow)) - Number(own(b.workflow))), [queues.answer]);
	const names = [...new Set(list.map((q) => q.queue))].filter(Boolean);
	const paused = new Set((pauses.answer ?? []).filter((p) => p.queue && !p.workflow).map((p) => p.queue));
	const waits = list.reduce((sum, q) => sum + q.due, 0);
	return (
		<>
			<Head title="Queues">{queues.answer && <span class="count">{many(names.length, "queue")}, {count(waits, list.some((q) => q.capped))} waiting for a node</span>}</Head>
			<ProblemBox problem={queues.problem} again={queues.again} />
			<ProblemBox problem={pauses.problem} again={pauses.again} />
			<Pauses list={pauses.answer} ask={ask} done={again} />
			{names.some((n) => !paused.has(n)) && (
				<p class="row acts">{names.filter((n) => !paused.has(n)).map((n) => <Act key={n} verb="queue pause" of={{ queue: n }} act={() => ask(pausing({ queue: n }, again))}>Pause <Text max={40}>{n}</Text></Act>)}</p>
			)}
			{queues.answer?.length === 0 ? <Empty title="No queue has a node, or anything that waits." /> : (
				<Table label="Queues" columns={columns} rows={list} keyOf={(q) => `${q.queue}\n${q.workflow}\n${q.version}`} busy={queues.loading && !queues.answer} />
			)}
			{asked}
		</>
	);
}

const whereOf = (q: Queue) => `queue = ${quote(q.queue)} and workflow = ${quote(q.workflow)} and version = ${q.version} and status = open`;

function By({ queue: q }: { queue: Queue }) {
	return (
		<>
			{q.nodes.length > 0 && <Text max={200}>{q.nodes.join(", ")}</Text>}
			{q.nodes.length === 0 && q.due > 0 && <strong class="bad">no node serves it</strong>}
			{q.nodes.length === 0 && q.due === 0 && <span class="none">no node</span>}
			{q.paused && <p class="hint">paused <Text max={200}>{q.paused}</Text></p>}
		</>
	);
}
