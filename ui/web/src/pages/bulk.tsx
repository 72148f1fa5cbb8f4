import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Bulk, BulkFailure, Run } from "../api";
import { useAnswer } from "../answer";
import { call } from "../client";
import { useFresh } from "../fresh";
import { soon, useLive } from "../live";
import type { Page } from "../page";
import { Act, useAsk } from "../parts/act";
import { Badge, wordOf } from "../parts/badge";
import { Empty } from "../parts/empty";
import { Facts, Part } from "../parts/facts";
import { Head } from "../parts/head";
import { Found } from "../parts/link";
import { ProblemBox } from "../parts/problem";
import { type Column, Table } from "../parts/table";
import { count, many, Text } from "../parts/text";
import { Duration, Time } from "../parts/time";
import { toast } from "../parts/toast";
import { to } from "../router";

export const page: Page = { path: "bulk", title: "Bulk jobs", key: "b", view: Jobs };
export const one: Page = { path: "bulk/:run", title: "Bulk job", view: Job };

const where = 'workflow = "reprise.bulk"';

// A page has few jobs: how far each is has to be asked for.
const limit = 20;

const columns: Array<Column<Run>> = [
	{ id: "job", head: "Job", kind: "first", cell: (r) => <a class={r.key ? "" : "id"} href={to(["bulk", r.id])}>{r.key ? <Text max={60}>{r.key}</Text> : "…" + r.id.slice(-12)}</a> },
	{ id: "status", head: "Status", cell: (r) => <Badge word={wordOf(r)} /> },
	{ id: "started", head: "Started", cell: (r) => <Time at={r.created_at} /> },
	{ id: "took", head: "Took", kind: "number", cell: (r) => <Duration from={r.start_at} to={r.closed_at} /> },
	{ id: "done", head: "Did", kind: "wide", cell: (r) => <Done run={r} /> },
];

function Jobs() {
	const [cursor, setCursor] = useState<string>();
	const jobs = useAnswer("GET /runs", { query: { where, limit, cursor } });
	useFresh(["runs"], jobs.again, { where });
	return (
		<>
			<Head title="Bulk jobs"><a href={to(["runs"])}>Choose runs</a></Head>
			<ProblemBox problem={jobs.problem} again={jobs.again} />
			{jobs.answer?.runs.length === 0 && !cursor ? <Empty title="There are no jobs."><p>On the page of runs, a filter and a verb make one. So does <code>reprise bulk</code>.</p></Empty> : (
				<Table label="Bulk jobs" columns={columns} rows={jobs.answer?.runs ?? []} keyOf={(r) => r.id} busy={jobs.loading && !jobs.answer} />
			)}
			<p class="row">
				{cursor && <button type="button" onClick={() => setCursor(undefined)}>Newest</button>}
				{jobs.answer?.next && <button type="button" onClick={() => setCursor(jobs.answer!.next)}>Older</button>}
			</p>
		</>
	);
}

// Done asks how far a job is, again whenever its run has changed.
function Done({ run }: { run: Run }) {
	const path = useMemo(() => ({ run: run.id }), [run.id]);
	const job = useAnswer("GET /bulk/{run}", { path, query: {} });
	const before = useRef(run);
	useEffect(() => {
		if (before.current !== run) job.again();
		before.current = run;
	}, [run]);
	if (job.problem) return <span class="bad"><Text>{job.problem.detail}</Text></span>;
	return job.answer ? <Progress job={job.answer} /> : null;
}

// Progress says how far a job is.
function Progress({ job: j }: { job: Bulk }) {
	const tried = j.done + j.not_needed + j.failed;
	return (
		<div class="progress">
			<span><strong>{j.verb}</strong> {count(j.done)} of {many(j.runs, "run", "runs", j.capped)}{j.not_needed > 0 && `, ${count(j.not_needed)} had ended`}{j.failed > 0 && <>, <strong class="bad">{count(j.failed)} failed</strong></>}</span>
			{j.status === "open" && <progress max={Math.max(1, j.runs)} value={Math.min(tried, j.runs)} aria-label="Progress" />}
		</div>
	);
}

const failures: Array<Column<BulkFailure>> = [
	{ id: "run", head: "Run", kind: "first", cell: (f) => <a class="id" href={to(["runs", f.run])}>{f.run}</a> },
	{ id: "error", head: "Error", kind: "wide", cell: (f) => <Text max={600}>{f.error}</Text> },
];

// Failures lists the first runs that failed, and the others by page if they are asked for.
function Failures({ job, run }: { job: Bulk; run: string }) {
	const [cursor, setCursor] = useState<string>();
	const page = useAnswer("GET /bulk/{run}/outcomes", cursor === undefined ? undefined : { path: { run }, query: { failures: true, limit: 50, cursor: cursor || undefined } });
	if (!job.failures?.length) return null;
	const first = cursor === undefined;
	const rows: BulkFailure[] = first ? job.failures : (page.answer?.outcomes ?? []).map((o) => ({ run: o.run, error: o.error ?? o.what }));
	const next = page.answer?.next;
	return (
		<Part title={first && job.failed > rows.length ? `The first ${rows.length} that failed` : "Those that failed"}>
			<ProblemBox problem={page.problem} again={page.again} />
			<Table label="Failures" columns={failures} rows={rows} keyOf={(f) => f.run} busy={!first && page.loading && !page.answer} />
			<p class="row">
				{first && job.failed > rows.length && <button type="button" onClick={() => setCursor("")}>All that failed</button>}
				{cursor && <button type="button" onClick={() => setCursor("")}>First page</button>}
				{!first && next && <button type="button" onClick={() => setCursor(next)}>More</button>}
			</p>
		</Part>
	);
}

// Told is what a job's run was started with.
interface Told {
	job?: { where?: string; all?: boolean; failures_of?: string; reason?: string; rate?: number; concurrency?: number };
	actor?: string;
}

function Job({ params }: { params: Record<string, string> }) {
	const path = useMemo(() => ({ run: params.run! }), [params.run]);
	const job = useAnswer("GET /bulk/{run}", { path });
	const run = useAnswer("GET /runs/{run}", { path });
	const again = () => {
		job.again();
		run.again();
	};
	const now = useMemo(() => ({ again, look: soon(() => now.again()) }) as { again: () => void; look: () => void }, []);
	now.again = again;
	const status = job.answer?.status;
	useLive("GET /runs/{run}/events", status === "open" ? { path } : undefined, ["event", "run", "end"], now.look);
	const [ask, asked] = useAsk();
	const r = run.answer?.run;
	const may = { verbs: run.answer ? run.answer.may : [] };
	const told = run.answer?.input?.value as Told | undefined;
	const paused = r?.state === "paused" || r?.state === "pausing" || r?.state === "interrupting";
	const say = (text: string) => {
		toast(text);
		again();
	};
	return (
		<>
			<Head title={<>Bulk job {job.answer?.verb}</>}>
				<a href={to(["bulk"])}>All jobs</a>
				{status === "open" && (
					<>
						{paused
							? <Act verb="run resume" may={may} act={() => ask({ title: "Resume the job?", verb: "Resume", act: async (reason) => { await call("POST /runs/{run}/resume", { path, body: { reason } }); say("Resumed."); } })}>Resume</Act>
							: <Act verb="run pause" may={may} act={() => ask({ title: "Pause the job?", verb: "Pause", children: <p>It begins with no other run until it is resumed.</p>, act: async (reason) => { await call("POST /runs/{run}/pause", { path, body: { reason } }); say("Paused."); } })}>Pause</Act>}
						<Act verb="run cancel" may={may} danger act={() => ask({ title: "Abort the job?", verb: "Abort", danger: true, children: <p>What it has done to runs stays done. It does nothing to the rest.</p>, act: async (reason) => { await call("POST /runs/{run}/cancel", { path, body: { reason } }); say("The job ends."); } })}>Abort</Act>
					</>
				)}
			</Head>
			<ProblemBox problem={job.problem ?? run.problem} again={again} />
			{job.answer && (
				<>
					<Progress job={job.answer} />
					<Facts of={[
						["Status", r && <Badge word={wordOf(r)} />],
						["Which runs", told?.job?.where ? <Found where={told.job.where}><code><Text max={600}>{told.job.where}</Text></code></Found> : told?.job?.failures_of ? <>those that failed in <a class="id" href={to(["bulk", told.job.failures_of])}>{told.job.failures_of}</a></> : told?.job?.all && "all"],
						["By", told?.actor && <Text max={60}>{told.actor}</Text>],
						["Reason", told?.job?.reason && <Text max={600}>{told.job.reason}</Text>],
						["Rate", told?.job?.rate && `${told.job.rate} a second`],
						["Started", r && <Time at={r.created_at} />],
						["Took", r && <Duration from={r.start_at} to={r.closed_at} />],
						["About", r?.problem && <Text max={600}>{r.problem}</Text>],
						["It is the run", <a class="id" href={to(["runs", params.run!])}>{params.run!}</a>],
					]} />
					<Failures job={job.answer} run={params.run!} />
				</>
			)}
			{asked}
		</>
	);
}
