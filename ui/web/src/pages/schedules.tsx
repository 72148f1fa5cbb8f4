import type { Schedule } from "../api";
import { useAnswer } from "../answer";
import { useFresh } from "../fresh";
import { useMay } from "../may";
import type { Page } from "../page";
import { Badge } from "../parts/badge";
import { Empty } from "../parts/empty";
import { Head } from "../parts/head";
import { ProblemBox } from "../parts/problem";
import { type Column, Table } from "../parts/table";
import { count, many, Text } from "../parts/text";
import { Time } from "../parts/time";
import { to } from "../router";

export const page: Page = { path: "schedules", title: "Schedules", key: "s", view: Schedules };

const columns: Array<Column<Schedule>> = [
	{ id: "id", head: "Schedule", kind: "first", cell: (s) => <a href={to(["schedules", s.id])}><Text max={80}>{s.id}</Text></a> },
	{ id: "state", head: "State", cell: (s) => <Badge word={s.state} /> },
	{ id: "workflow", head: "Starts", cell: (s) => s.workflow && <Text max={60}>{s.workflow}</Text> },
	{ id: "next", head: "Next", cell: (s) => s.next_at && <Time at={s.next_at} /> },
	{ id: "last", head: "Last", cell: (s) => s.last_run && <a href={to(["runs", s.last_run])}><Time at={s.last_slot_at} /></a> },
	{ id: "runs", head: "Runs", kind: "number", cell: (s) => count(s.started) },
	{ id: "failed", head: "Failed", kind: "number", cell: (s) => (s.failed ? <strong class={s.failures ? "bad" : undefined}>{count(s.failed)}</strong> : "0") },
	{ id: "about", head: "About", kind: "wide", cell: (s) => about(s) && <Text max={300}>{about(s)}</Text> },
];

function about(s: Schedule): string {
	return [
		s.paused && `paused ${s.paused}`,
		s.failures ? many(s.failures, "failure in a row", "failures in a row") : "",
		s.open_runs ? many(s.open_runs, "open run") : "",
		s.queued ? many(s.queued, "slot waits", "slots wait") : "",
		s.missed ? `${count(s.missed)} missed` : "",
		s.skipped ? `${count(s.skipped)} left out` : "",
		s.backfills ? many(s.backfills, "backfill") : "",
		s.note,
	].filter(Boolean).join("; ");
}

function Schedules() {
	const list = useAnswer("GET /schedules", {});
	useFresh(["runs"], list.again, { where: 'workflow = "reprise.schedule"' });
	return (
		<>
			<Head title="Schedules">
				{list.answer && <span class="count">{many(list.answer.length, "schedule")}</span>}
				<a class="button" href={to(["schedule-times"])}>Try times</a>
				{useMay()("schedule apply") && <a class="button" href={to(["schedule-sets"])}>Apply a set</a>}
			</Head>
			<ProblemBox problem={list.problem} again={list.again} />
			{list.answer?.length === 0 ? <Empty title="There are no schedules."><p>A set of them is applied here, by a program, or by <code>reprise schedule apply</code>.</p></Empty> : (
				<Table label="Schedules" columns={columns} rows={list.answer ?? []} keyOf={(s) => s.id} busy={list.loading && !list.answer} />
			)}
		</>
	);
}
