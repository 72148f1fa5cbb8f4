import type { Limit } from "../api";
import { useAnswer } from "../answer";
import type { Page } from "../page";
import { Act, useAsk } from "../parts/act";
import { Empty } from "../parts/empty";
import { Head } from "../parts/head";
import { setting, useBusyFresh } from "../parts/limits";
import { ProblemBox } from "../parts/problem";
import { type Column, Table } from "../parts/table";
import { count, many, Text } from "../parts/text";
import { Time } from "../parts/time";
import { to } from "../router";

export const page: Page = { path: "limits", title: "Limits", key: "l", view: Limits };

const columns: Array<Column<Limit>> = [
	{ id: "name", head: "Limit", kind: "first", cell: (l) => <a href={to(["limits", l.name])}><Text max={80}>{l.name}</Text></a> },
	{ id: "held", head: "Held", kind: "number", cell: (l) => count(l.held, l.capped) },
	{ id: "waiting", head: "Waits", kind: "number", cell: (l) => (l.waiting ? <strong>{count(l.waiting, l.capped)}</strong> : "0") },
	{ id: "next", head: "Rate lets the next in", cell: (l) => l.next_at && <Time at={l.next_at} /> },
	{ id: "keys", head: "Keys in use", kind: "number", cell: (l) => count(l.keys_in_use, l.capped) },
	{ id: "bounds", head: "Bounds", kind: "wide", cell: (l) => <Bounds of={l} /> },
];

// shownMax is how many rows of keys a limit has here before one opens it.
const shownMax = 3;

function Bounds({ of: l }: { of: Limit }) {
	if (l.bounds.length === 0) return <span class="hint">it has been removed</span>;
	return (
		<ul class="plain">
			{l.bounds.slice(0, shownMax).map((b) => <li key={b.key ?? ""}><Text max={200}>{b.text}</Text></li>)}
			{l.bounds.length > shownMax && <li class="hint">and {many(l.bounds.length - shownMax, "more key", "more keys")}</li>}
		</ul>
	);
}

function Limits() {
	const list = useAnswer("GET /limits", {});
	const waiting = (list.answer ?? []).reduce((n, l) => n + l.waiting, 0);
	useBusyFresh(list.again, waiting > 0);
	const [ask, asked] = useAsk();
	return (
		<>
			<Head title="Limits">
				{list.answer && <span class="count">{many(list.answer.length, "limit")}, {count(waiting)} waiting</span>}
				<Act verb="limit set" act={() => ask(setting({}, list.again))}>Make a limit</Act>
			</Head>
			<ProblemBox problem={list.problem} again={list.again} />
			{list.answer?.length === 0 ? (
				<Empty title="There are no limits."><p>Steps that name one begin as if they did not, until it is made: here, by a program, or by <code>reprise limit set</code>.</p></Empty>
			) : (
				<Table label="Limits" columns={columns} rows={list.answer ?? []} keyOf={(l) => l.name} busy={list.loading && !list.answer} />
			)}
			{asked}
		</>
	);
}
