import { useMemo, useState } from "preact/hooks";
import type { FailureGroup } from "../api";
import { useAnswer } from "../answer";
import { useFresh } from "../fresh";
import type { Page } from "../page";
import { Act } from "../parts/act";
import { Badge } from "../parts/badge";
import { Empty } from "../parts/empty";
import { FilterInput } from "../parts/filterinput";
import { Head } from "../parts/head";
import { Found, quote } from "../parts/link";
import { ProblemBox } from "../parts/problem";
import { type Column, Table } from "../parts/table";
import { count, many, Text } from "../parts/text";
import { Time } from "../parts/time";
import { go, to, usePlace } from "../router";
import { BulkDialog } from "../runs/bulk";
import { useKnown } from "../runs/known";

export const page: Page = { path: "failures", title: "Failures", key: "f", view: Failures };

// Row is what failures of one class and step have in common, over all versions of a workflow.
interface Row extends Omit<FailureGroup, "version"> {
	key: string;
	versions: Array<{ version: number; runs: number; first_at?: string; last_at?: string }>;
}

// rowsOf puts the versions of a workflow together: whether a deployment has brought a failure, or
// has not ended it, is seen in one row.
function rowsOf(groups: FailureGroup[]): Row[] {
	const rows = new Map<string, Row>();
	for (const { version, ...g } of groups) {
		const key = JSON.stringify([g.status, g.workflow, g.class, g.step]);
		const row = rows.get(key) ?? { ...g, key, runs: 0, versions: [] };
		rows.set(key, row);
		row.runs += g.runs;
		row.versions.push({ version, runs: g.runs, first_at: g.first_at, last_at: g.last_at });
		if (g.first_at && !(row.first_at! <= g.first_at)) row.first_at = g.first_at;
		if (g.last_at && !(row.last_at! >= g.last_at)) Object.assign(row, { last_at: g.last_at, example: g.example, problem: g.problem });
	}
	for (const r of rows.values()) r.versions.sort((a, b) => b.version - a.version);
	return [...rows.values()].sort((a, b) => b.runs - a.runs);
}

// whereOf selects the runs of a row. A filter cannot name the step, nor the problem of a blocked
// run, so it may select a few more: a job counts them before it begins.
function whereOf(r: Row, also: string, version?: number): string {
	return [
		`workflow = ${quote(r.workflow)}`,
		version !== undefined && `version = ${version}`,
		`status = ${r.status}`,
		r.status === "failed" && r.class && `error.class = ${quote(r.class)}`,
		also && `(${also})`,
	].filter(Boolean).join(" and ");
}

// Windows are those that somebody looks at after a deployment.
const windows: Array<[string, string]> = [["", "any time"], ["closed > -1h", "1 h"], ["closed > -1d", "1 day"], ["closed > -7d", "7 days"]];

const none: never[] = [];

function Failures() {
	const where = usePlace().query.get("where") ?? "";
	const failures = useAnswer("GET /failures", { query: { where } });
	useFresh(["runs"], failures.again, { ms: 2000 });
	const { known, begin } = useKnown(none);
	const [job, setJob] = useState<{ where: string; verb: string }>();
	const show = (where: string) => go(to(["failures"], { where }));
	const f = failures.answer;
	const rows = useMemo(() => rowsOf(f?.groups ?? []), [f]);
	const columns = useMemo((): Array<Column<Row>> => [
		{ id: "class", head: "Failure", kind: "first", cell: (r) => <Found where={whereOf(r, where)}>{r.class ? <Text max={80}>{r.class}</Text> : "without a class"}</Found> },
		{ id: "status", head: "Status", cell: (r) => <Badge word={r.status} /> },
		{ id: "step", head: "Step", cell: (r) => r.step && <Text max={60}>{r.step}</Text> },
		{ id: "workflow", head: "Workflow", cell: (r) => <a href={to(["workflows", r.workflow])}><Text max={60}>{r.workflow}</Text></a> },
		{ id: "runs", head: "Runs", kind: "number", cell: (r) => count(r.runs) },
		{ id: "versions", head: "Versions", cell: (r) => <Versions row={r} where={where} /> },
		{ id: "first", head: "First", cell: (r) => <When row={r} at={r.first_at} /> },
		{ id: "last", head: "Last", cell: (r) => <When row={r} at={r.last_at} /> },
		{ id: "example", head: "The newest says", kind: "wide", cell: (r) => <a class="quiet" href={to(["runs", r.example])}><Text max={300}>{r.problem || r.example}</Text></a> },
		{ id: "do", head: "Actions", cell: (r) => (r.status === "failed"
			? <Act verb="bulk retry" quiet label={`Retry runs that failed with ${r.class ?? "no class"}`} act={() => setJob({ where: whereOf(r, where), verb: "retry" })}>Retry</Act>
			: <Act verb="bulk resume" quiet label={`Resume ${r.status} runs of ${r.workflow}`} act={() => setJob({ where: whereOf(r, where), verb: "resume" })}>Resume</Act>) },
	], [where]);
	const refused = failures.problem?.status === 400 ? failures.problem.detail : undefined;
	return (
		<>
			<Head title="Failures">{f && <span class="count">{many(f.runs, "run", "runs", f.capped)}, {many(rows.length, "kind")}</span>}</Head>
			<FilterInput value={where} find={show} known={known} begin={begin} wrong={refused} />
			<p class="row acts" role="group" aria-label="Ended in the last">{windows.map(([w, name]) => <button type="button" key={w} class="quiet" aria-pressed={where === w} onClick={() => show(w)}>{name}</button>)}</p>
			{!refused && <ProblemBox problem={failures.problem} again={failures.again} />}
			{f?.capped && <p class="hint">The newest {count(f.runs)} are counted.</p>}
			{f && rows.length === 0 ? <Empty title={where ? "No run that is like this has failed or is blocked." : "No run has failed or is blocked."} /> : (
				<Table label="Failures" columns={columns} rows={rows} keyOf={(r) => r.key} busy={failures.loading && !f} />
			)}
			{job && <BulkDialog where={job.where} verb={job.verb} close={() => { setJob(undefined); failures.again(); }} />}
		</>
	);
}

// When is a time of a row: an end, or the start of a run that is stuck and has none.
function When({ row, at }: { row: Row; at?: string }) {
	return at ? <>{row.status !== "failed" && "started "}<Time at={at} /></> : null;
}

function Versions({ row, where }: { row: Row; where: string }) {
	return (
		<ul class="plain">
			{row.versions.map((v) => (
				<li key={v.version} title={v.first_at && `first ${v.first_at}, last ${v.last_at}`}>
					<Found where={whereOf(row, where, v.version)}>v{v.version}</Found> <span class="hint">{count(v.runs)}{v.first_at && row.versions.length > 1 && <>, first <Time at={v.first_at} /></>}</span>
				</li>
			))}
		</ul>
	);
}
