import { useMemo, useState } from "preact/hooks";
import type { Run, Schedule, Slot } from "../api";
import { useAnswer } from "../answer";
import { call } from "../client";
import { useFresh } from "../fresh";
import type { Page } from "../page";
import { Act, Choice, type Question, useAsk } from "../parts/act";
import { Badge, wordOf } from "../parts/badge";
import { Facts, Part } from "../parts/facts";
import { Field } from "../parts/field";
import { Head } from "../parts/head";
import { Found, quote, RunLink } from "../parts/link";
import { Written, written } from "../parts/payload";
import { ProblemBox } from "../parts/problem";
import { Slots } from "../parts/slots";
import { type Column, Table } from "../parts/table";
import { count, Text } from "../parts/text";
import { Duration, Time } from "../parts/time";
import { toast } from "../parts/toast";
import { go, to } from "../router";

export const page: Page = { path: "schedules/:schedule", title: "Schedule", view: One };

const overlaps = ["skip", "buffer-one", "buffer-all", "cancel-other", "terminate-other", "allow"];

const runs: Array<Column<Run>> = [
	{ id: "run", head: "Run", kind: "first", cell: (r) => <RunLink run={r} /> },
	{ id: "status", head: "Status", cell: (r) => <Badge word={wordOf(r)} /> },
	{ id: "slot", head: "Slot", cell: (r) => <Time at={r.labels?.slot} /> },
	{ id: "started", head: "Started", cell: (r) => <Time at={r.created_at} /> },
	{ id: "took", head: "Took", kind: "number", cell: (r) => <Duration from={r.start_at} to={r.closed_at} /> },
	{ id: "about", head: "About", kind: "wide", cell: (r) => r.problem && <Text max={300}>{r.problem}</Text> },
];

function One({ params }: { params: Record<string, string> }) {
	const id = params.schedule!;
	const path = useMemo(() => ({ schedule: id }), [id]);
	const shown = useAnswer("GET /schedules/{schedule}", { path });
	useFresh(["runs"], shown.again, { where: `schedule = ${quote(id)} or schedule_name = ${quote(id)}` });
	const [ask, asked] = useAsk();
	const s = shown.answer;
	return (
		<>
			<Head title={<>Schedule <Text max={80}>{id}</Text></>}>{s && <Actions s={s} ask={ask} again={shown.again} />}</Head>
			<ProblemBox problem={shown.problem} again={shown.again} />
			{s && (
				<>
					<Facts of={factsOf(s)} />
					{s.coming && <Coming s={s} coming={s.coming} />}
					<Part title="Newest runs" aside={<Found where={`schedule = ${quote(s.id)}`}>All its runs</Found>}>
						{s.recent?.length ? <Table label="Newest runs" columns={runs} rows={s.recent} keyOf={(r) => r.id} /> : <p class="hint">It has started none.</p>}
					</Part>
					{s.definition !== undefined && <Part title="Definition" aside={<span class="hint small">without the input of its runs</span>}><Written text={written(s.definition)} name="definition" /></Part>}
				</>
			)}
			{asked}
		</>
	);
}

// Coming lists the next times, or those after a moment that somebody asks about.
function Coming({ s, coming }: { s: Schedule; coming: Slot[] }) {
	const [typed, type] = useState("");
	const [after, setAfter] = useState("");
	const asked = useAnswer("GET /schedules/{schedule}/preview", after ? { path: { schedule: s.id }, query: { after, number: coming.length || 10 } } : undefined);
	const list = after ? asked.answer : coming;
	return (
		<Part title={after ? `Times after ${after}` : s.state === "paused" ? "Next times, which pass while it is paused" : "Next times"} aside={
			<form class="row small" onSubmit={(e) => { e.preventDefault(); setAfter(typed.trim()); }}>
				<label>After <input class="short" placeholder="now" value={typed} onInput={(e) => type(e.currentTarget.value)} autocomplete="off" /></label>
				<button type="submit">Show</button>
			</form>
		}>
			<ProblemBox problem={asked.problem} />
			{list && (list.length ? <Slots list={list} /> : <p class="hint">No time comes any more.</p>)}
		</Part>
	);
}

function factsOf(s: Schedule): Array<[string, preact.ComponentChildren]> {
	return [
		["State", <Badge word={s.state} />],
		["Paused", s.paused && <Text max={300}>{s.paused}</Text>],
		["Starts", s.workflow && <a href={to(["workflows", s.workflow])}><Text max={80}>{s.workflow}</Text></a>],
		["If a run is open", s.overlap],
		["Next", s.next_at && <><Time at={s.next_at} />{s.note && <span class="hint"> <Text max={300}>{s.note}</Text></span>}</>],
		["Started", `${count(s.started)}: ${count(s.completed)} completed, ${count(s.failed)} failed${s.failures ? `, ${count(s.failures)} in a row` : ""}`],
		["Left out", s.skipped > 0 && count(s.skipped)],
		["Missed", s.missed > 0 && count(s.missed)],
		["There already", s.existed > 0 && count(s.existed)],
		["Open", s.open_runs > 0 && <Found where={`schedule = ${quote(s.id)} and status = open`}>{count(s.open_runs)}</Found>],
		["Waiting slots", s.queued > 0 && count(s.queued)],
		["Backfills under way", s.backfills > 0 && count(s.backfills)],
		["It is the run", <a class="id" href={to(["runs", s.run])}>{s.run}</a>],
	];
}

function Actions({ s, ask, again }: { s: Schedule; ask: (q: Question) => void; again: () => void }) {
	const path = { schedule: s.id };
	const may = { verbs: s.may };
	const told = (text: string) => {
		toast(text);
		again();
	};
	return (
		<>
			{s.state === "paused"
				? <Act verb="schedule resume" may={may} act={() => ask({ title: `Resume schedule ${s.id}?`, verb: "Resume", reason: false, children: <p>It goes on with the times that come. Those that have passed do not run.</p>, act: async () => { await call("POST /schedules/{schedule}/resume", { path }); told("Resumed."); } })}>Resume</Act>
				: <Act verb="schedule pause" may={may} act={() => ask({ title: `Pause schedule ${s.id}?`, verb: "Pause", children: <p>It starts nothing until it is resumed. Runs that are open go on; triggers and backfills run.</p>, act: async (reason) => { await call("POST /schedules/{schedule}/pause", { path, body: { reason } }); told("Paused."); } })}>Pause</Act>}
			<Act verb="schedule trigger" may={may} act={() => ask(triggering(s, told))}>Trigger</Act>
			<Act verb="schedule backfill" may={may} act={() => ask(backfilling(s, told))}>Backfill</Act>
			<Act verb="schedule delete" may={may} danger act={() => ask({
				title: `Delete schedule ${s.id}?`, verb: "Delete", danger: true, reason: false, children: <p>What it has done is forgotten. Runs that it has started go on.</p>,
				act: async () => {
					const done = await call("DELETE /schedules/{schedule}", { path });
					toast(done.waits ? "The deletion is stored. It waits for a node that serves schedules." : <>Schedule <Text max={60}>{s.id}</Text> is deleted.</>);
					go(to(["schedules"]));
				},
			})}>Delete</Act>
		</>
	);
}

function triggering(s: Schedule, told: (text: string) => void): Question {
	const o = { key: "", overlap: "" };
	return {
		title: `Start a run of ${s.id} now?`, verb: "Trigger", reason: false,
		children: (
			<>
				<Field label="If a run is open"><select onChange={(e) => (o.overlap = e.currentTarget.value)}><option value="">as the schedule says: {s.overlap}</option>{overlaps.map((p) => <option key={p}>{p}</option>)}</select></Field>
				<Field label="Key" hint="A second trigger with it does nothing."><input onInput={(e) => (o.key = e.currentTarget.value)} autocomplete="off" /></Field>
			</>
		),
		act: async () => {
			await call("POST /schedules/{schedule}/trigger", { path: { schedule: s.id }, body: { key: o.key || undefined, overlap: o.overlap || undefined } });
			told("Triggered.");
		},
	};
}

function backfilling(s: Schedule, told: (text: string) => void): Question {
	const o = { from: "", to: "", at_once: false };
	return {
		title: `Backfill ${s.id}`, verb: "Backfill", reason: false,
		children: (
			<>
				<p>Starts the runs of past times that have none, by what the schedule says now. Those that have failed run again.</p>
				<Field label="From" hint="A day, or a moment such as 2026-11-30T02:30:00Z. In UTC if it names no zone."><input required placeholder="2026-11-01" onInput={(e) => (o.from = e.currentTarget.value)} autocomplete="off" /></Field>
				<Field label="To" hint="Nothing is now."><input placeholder="now" onInput={(e) => (o.to = e.currentTarget.value)} autocomplete="off" /></Field>
				<Choice label="Side by side" hint="100 a second, instead of one behind the other." set={(on) => (o.at_once = on)} />
			</>
		),
		act: async () => {
			await call("POST /schedules/{schedule}/backfill", { path: { schedule: s.id }, body: { from: o.from.trim(), to: o.to.trim() || undefined, at_once: o.at_once || undefined } });
			told("The backfill has begun.");
		},
	};
}
