import { useState } from "preact/hooks";
import type { Run } from "../api";
import { keep, recall } from "../keep";
import { Badge, wordOf } from "../parts/badge";
import { Flag } from "../parts/field";
import { RunLink } from "../parts/link";
import { Menu } from "../parts/menu";
import type { Column } from "../parts/table";
import { Text } from "../parts/text";
import { Duration, Time } from "../parts/time";
import { to } from "../router";

// about is the most interesting thing about a run.
const about = (r: Run) => r.problem || r.waiting?.join(", ") || "";

// all are the columns that there are, beside those of labels.
const all: Array<Column<Run>> = [
	{ id: "run", head: "Run", kind: "first", cell: (r) => <RunLink run={r} /> },
	{ id: "status", head: "Status", cell: (r) => <Badge word={wordOf(r)} /> },
	{ id: "workflow", head: "Workflow", cell: (r) => <><Text max={60}>{r.workflow}</Text>{r.version > 1 && <span class="hint"> v{r.version}</span>}</> },
	{ id: "created", head: "Started", order: "created", cell: (r) => <Time at={r.created_at} /> },
	{ id: "closed", head: "Ended", order: "closed", cell: (r) => <Time at={r.closed_at} /> },
	{ id: "duration", head: "Took", kind: "number", order: "duration", cell: (r) => <Duration from={r.start_at} to={r.closed_at} /> },
	{ id: "about", head: "About", kind: "wide", cell: (r) => about(r) && <Text max={300}>{about(r)}</Text> },
	{ id: "queue", head: "Queue", cell: (r) => <Text max={60}>{r.queue}</Text> },
	{ id: "priority", head: "Priority", kind: "number", cell: (r) => r.priority },
	{ id: "id", head: "Id", cell: (r) => <span class="id">{r.id}</span> },
	{ id: "generation", head: "Generation", kind: "number", cell: (r) => r.generation },
	{ id: "node", head: "Node", kind: "number", cell: (r) => r.node || "" },
	{ id: "visible", head: "Looked at", cell: (r) => <Time at={r.visible_at} /> },
	{ id: "deadline", head: "Deadline", cell: (r) => <Time at={r.deadline_at} /> },
	{ id: "parent", head: "Parent", cell: (r) => r.parent && <a class="id" href={to(["runs", r.parent])}>…{r.parent.slice(-12)}</a> },
];

const usual = "run,status,workflow,created,duration,about";

// A column of a label is named so in the address.
const labelPrefix = "label.";

const made = new Map<string, Column<Run>>();

// column returns the one with an id: always the same, so that rows need not be drawn anew.
function column(id: string): Column<Run> | undefined {
	const known = all.find((c) => c.id === id) ?? made.get(id);
	if (known || !id.startsWith(labelPrefix)) return known;
	const label = id.slice(labelPrefix.length);
	const c: Column<Run> = { id, head: label, cell: (r) => r.labels?.[label] !== undefined && <Text max={80}>{r.labels[label]}</Text> };
	made.set(id, c);
	return c;
}

const chosenBefore = new Map<string, Array<Column<Run>>>();

// columnsOf are those that an address names, else those of the last visit.
export function columnsOf(named: string | null): Array<Column<Run>> {
	const text = named ?? recall("columns") ?? usual;
	let list = chosenBefore.get(text);
	if (!list) {
		list = ids(text).flatMap((id) => column(id) ?? []);
		if (!list.some((c) => c.id === "run")) list.unshift(all[0]!);
		chosenBefore.set(text, list);
	}
	return list;
}

// Ids are apart by commas; what a label's name has of these is escaped.
const ids = (text: string) => text.split(",").map((id) => id.replace(/%2C/g, ",").replace(/%25/g, "%"));
const written = (list: string[]) => list.map((id) => id.replace(/%/g, "%25").replace(/,/g, "%2C")).join();

// ColumnMenu chooses columns. What is chosen is part of the address, and the browser's next choice.
export function ColumnMenu({ shown, labels, set }: { shown: Array<Column<Run>>; labels: string[]; set: (columns: string | undefined) => void }) {
	const [label, setLabel] = useState("");
	const have = shown.map((c) => c.id);
	const choose = (list: string[]) => {
		const text = written(list);
		keep("columns", text === usual ? undefined : text);
		set(text);
	};
	const toggle = (id: string, on: boolean) => choose(on ? [...have, id] : have.filter((h) => h !== id));
	const others = [...new Set([...have.filter((id) => id.startsWith(labelPrefix)), ...labels.map((l) => labelPrefix + l)])];
	const add = (e: Event) => {
		e.preventDefault();
		if (label && !have.includes(labelPrefix + label)) choose([...have, labelPrefix + label]);
		setLabel("");
	};
	return (
		<Menu label="Columns">
			<fieldset>
				<legend class="hidden">Columns</legend>
				{all.slice(1).map((c) => <Flag key={c.id} label={c.head} checked={have.includes(c.id)} set={(on) => toggle(c.id, on)} />)}
			</fieldset>
			<fieldset>
				<legend>Labels</legend>
				{others.map((id) => <Flag key={id} label={id.slice(labelPrefix.length)} checked={have.includes(id)} set={(on) => toggle(id, on)} />)}
				<form class="row" onSubmit={add}><input aria-label="Another label" placeholder="another label" value={label} onInput={(e) => setLabel(e.currentTarget.value)} /><button type="submit">Add</button></form>
			</fieldset>
			<button type="button" class="quiet" onClick={() => choose(ids(usual))}>As usual</button>
		</Menu>
	);
}
