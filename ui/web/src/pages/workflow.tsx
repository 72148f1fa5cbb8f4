import { useMemo, useState } from "preact/hooks";
import { useAnswer } from "../answer";
import type { Group } from "../api";
import type { Page } from "../page";
import { Act, useAsk } from "../parts/act";
import { Badge } from "../parts/badge";
import { Empty } from "../parts/empty";
import { Part } from "../parts/facts";
import { Head } from "../parts/head";
import { Found, quote } from "../parts/link";
import { Pauses, pausing } from "../parts/pauses";
import { ProblemBox } from "../parts/problem";
import { type Column, Table } from "../parts/table";
import { count, Text } from "../parts/text";
import { span } from "../parts/time";
import { useKnown } from "../runs/known";
import { StartDialog } from "../runs/start";
import { By, own, type Row, useRows, whereOf } from "./workflows";

export const page: Page = { path: "workflows/:workflow", title: "Workflow", view: One };

const none: never[] = [];

function One({ params }: { params: Record<string, string> }) {
	const name = params.workflow!;
	const { rows, pauses, problem, again, known } = useRows(name);
	const [ask, asked] = useAsk();
	const { known: offers, begin, served } = useKnown(none);
	const [starting, start] = useState(false);
	const now = useMemo(() => ({ again }), []);
	now.again = again;
	const columns = useMemo((): Array<Column<Row>> => [
		{ id: "version", head: "Version", kind: "first", cell: (r) => (r.version ? `v${r.version}` : <span class="none">any version</span>) },
		{ id: "queue", head: "Queue", cell: (r) => r.queue && <Text max={60}>{r.queue}</Text> },
		{ id: "open", head: "Open", kind: "number", cell: (r) => (r.open ? <Found where={whereOf(r)}>{count(r.open, r.capped)}</Found> : "0") },
		{ id: "nodes", head: "Served by", kind: "wide", cell: (r) => <By row={r} /> },
		{ id: "do", head: "Actions", cell: (r) => (r.version ? <Act verb="workflow pause" of={{ workflow: name, version: r.version, queue: r.queue }} quiet label={`Pause version ${r.version} in queue ${r.queue}`} act={() => ask(pausing({ workflow: name, version: r.version, queue: r.queue }, () => now.again()))}>Pause</Act> : null) },
	], [name]);
	return (
		<>
			<Head title={<>Workflow <Text max={80}>{name}</Text></>}>
				<Found where={`workflow = ${quote(name)}`}>Its runs</Found>
				{!own(name) && <Act verb="run start" of={{ workflow: name }} act={() => { begin(); start(true); }}>Start a run</Act>}
				<Act verb="workflow pause" of={{ workflow: name }} act={() => ask(pausing({ workflow: name }, again))}>Pause</Act>
			</Head>
			<ProblemBox problem={problem} again={again} />
			<Pauses list={pauses} ask={ask} done={again} />
			{known && rows.length === 0 ? <Empty title="No node serves it, and none of its runs is open." /> : (
				<Table label="Versions" columns={columns} rows={rows} keyOf={(r) => `${r.queue}\n${r.version}`} busy={!known && !problem} />
			)}
			<LastDay workflow={name} />
			{asked}
			{starting && <StartDialog known={offers} served={served} workflow={name} close={() => { start(false); again(); }} />}
		</>
	);
}

// LastDay says what has become of the runs that were started in a day.
function LastDay({ workflow }: { workflow: string }) {
	const where = `workflow = ${quote(workflow)} and created > -1d`;
	const tally = useAnswer("GET /runs/count", { query: { by: ["version", "status"], where } });
	const columns = useMemo((): Array<Column<Group>> => [
		{ id: "version", head: "Version", kind: "first", cell: (g) => `v${g.values?.version}` },
		{ id: "status", head: "Status", cell: (g) => <Badge word={g.values?.status ?? ""} /> },
		{ id: "runs", head: "Runs", kind: "number", cell: (g) => <Found where={`${where} and version = ${g.values?.version} and status = ${g.values?.status}`}>{count(g.runs)}</Found> },
		{ id: "p50", head: "Half took", kind: "number", cell: (g) => (g.closed ? span((g.p50_seconds ?? 0) * 1000) : "") },
		{ id: "p95", head: "95 % took", kind: "number", cell: (g) => (g.closed ? span((g.p95_seconds ?? 0) * 1000) : "") },
	], [where]);
	return (
		<Part title="Started in the last day" aside={tally.answer?.capped && <span class="hint small">of the newest {count(tally.answer.runs)}</span>}>
			<ProblemBox problem={tally.problem} again={tally.again} />
			{tally.answer && (tally.answer.groups.length ? <Table label="Started in the last day" columns={columns} rows={tally.answer.groups} keyOf={(g) => `${g.values?.version}\n${g.values?.status}`} /> : <p class="hint">None.</p>)}
		</Part>
	);
}
