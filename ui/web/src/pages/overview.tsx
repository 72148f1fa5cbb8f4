import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import type { Overview as Answer, OverviewWorkflow } from "../api";
import { useAnswer } from "../answer";
import { useFresh } from "../fresh";
import type { Page } from "../page";
import { Bars } from "../parts/bars";
import { Empty } from "../parts/empty";
import { Part } from "../parts/facts";
import { Head } from "../parts/head";
import { quote } from "../parts/link";
import { ProblemBox } from "../parts/problem";
import { type Column, Table } from "../parts/table";
import { count, Text } from "../parts/text";
import { span, Time } from "../parts/time";
import { go, to, usePlace } from "../router";
import { own } from "./workflows";

export const page: Page = { path: "", title: "Overview", key: "o", view: Overview };

const windows = ["1h", "6h", "24h", "7d", "30d"];

// The server counts once for everybody, and no more often than every few seconds.
const lookMs = 5000;

function Overview() {
	const asked = usePlace().query.get("window") ?? "24h";
	const overview = useAnswer("GET /overview", { query: { window: asked } });
	useFresh(["runs", "pauses", "nodes"], overview.again, { ms: lookMs });
	const o = overview.answer;
	return (
		<>
			<Head title="Overview">
				<span class="row segments" role="group" aria-label="How far back">{windows.map((w) => <button type="button" key={w} class="quiet" aria-pressed={w === asked} onClick={() => go(to([], { window: w }))}>{w}</button>)}</span>
			</Head>
			<ProblemBox problem={overview.problem} again={overview.again} />
			{o && <Figures o={o} />}
			{o && <Bars buckets={o.buckets} seconds={o.bucket_seconds} />}
			{o && <Workflows o={o} />}
		</>
	);
}

function Figures({ o }: { o: Answer }) {
	const found = (where: string) => to(["runs"], { where });
	const failed = o.buckets.reduce((n, b) => n + b.failed, 0);
	return (
		<ul class="figures" aria-label="Now">
			<Figure name="Open" n={o.open} capped={o.capped} href={found("status = open")} />
			<Figure name="Failed" n={failed} href={to(["failures"], { where: `closed >= ${o.from}` })} bad />
			<Figure name="Blocked" n={o.blocked + o.quarantined} href={found('status in ("blocked", "quarantined")')} bad />
			<Figure name="Paused" n={o.paused} href={found("status = paused")} />
			<Figure name="Wait for a node" n={o.due} href={to(["queues"])}>{o.oldest_at && <>oldest <Time at={o.oldest_at} /></>}</Figure>
		</ul>
	);
}

function Figure({ name, n, capped, href, bad, children }: { name: string; n: number; capped?: boolean; href: string; bad?: boolean; children?: ComponentChildren }) {
	return <li><a href={href}><span class={bad && n > 0 ? "n bad" : "n"}>{count(n, capped)}</span> <span>{name}</span></a>{children && <span class="hint small">{children}</span>}</li>;
}

function Workflows({ o }: { o: Answer }) {
	const rows = useMemo(() => [...o.workflows].sort((a, b) => Number(own(a.workflow)) - Number(own(b.workflow))), [o.workflows]);
	const columns = useMemo((): Array<Column<OverviewWorkflow>> => {
		const link = (w: OverviewWorkflow, n: number, where: string, bad?: boolean) =>
			n === 0 ? <span class="none">0</span> : <a class={bad ? "bad" : undefined} href={to(["runs"], { where: `workflow = ${quote(w.workflow)} and version = ${w.version} and ${where}` })}>{count(n)}</a>;
		const since = `created >= ${o.from}`;
		return [
			{ id: "workflow", head: "Workflow", kind: "first", cell: (w) => <a href={to(["workflows", w.workflow])}><Text max={60}>{w.workflow}</Text></a> },
			{ id: "version", head: "Version", kind: "number", cell: (w) => w.version },
			{ id: "started", head: "Started", kind: "number", cell: (w) => link(w, w.started, since) },
			{ id: "completed", head: "Completed", kind: "number", cell: (w) => link(w, w.completed, `status = completed and ${since}`) },
			{ id: "failed", head: "Failed", kind: "number", cell: (w) => link(w, w.failed, `status = failed and ${since}`, true) },
			{ id: "open", head: "Open", kind: "number", cell: (w) => link(w, w.open, "status = open") },
			{ id: "blocked", head: "Blocked", kind: "number", cell: (w) => link(w, w.blocked + w.quarantined, 'status in ("blocked", "quarantined")', true) },
			{ id: "paused", head: "Paused", kind: "number", cell: (w) => link(w, w.paused, "status = paused") },
			{ id: "due", head: "Wait", kind: "number", cell: (w) => (w.due ? <a href={to(["queues"])}>{count(w.due)}</a> : <span class="none">0</span>) },
			{ id: "oldest", head: "Oldest", cell: (w) => w.oldest_at && <Time at={w.oldest_at} /> },
			{ id: "p50", head: "Half took", kind: "number", cell: (w) => (w.p50_seconds !== undefined ? span(w.p50_seconds * 1000) : "") },
			{ id: "p95", head: "95 % took", kind: "number", cell: (w) => (w.p95_seconds !== undefined ? span(w.p95_seconds * 1000) : "") },
		];
	}, [o.from]);
	return (
		<Part title="By workflow and version" aside={o.capped && <span class="hint small">Counting ended at a limit: numbers are at least these.</span>}>
			{rows.length === 0 ? <Empty title="There are no runs yet."><p>A program starts the first one, or the page of runs.</p></Empty> : <Table label="By workflow and version" columns={columns} rows={rows} keyOf={(w) => `${w.workflow}\n${w.version}`} />}
		</Part>
	);
}
