import { useMemo, useState } from "preact/hooks";
import type { Detail, Event } from "../api";
import { Empty } from "../parts/empty";
import { PayloadView } from "../parts/payload";
import { count, many, Text } from "../parts/text";
import { Time } from "../parts/time";
import { Carried } from "./carried";
import { brief, briefOf } from "./preview_text";

interface Row {
	number: number;
	kind: string;
	name?: string;
	at?: string;
	payload?: Event["payload"];
	event?: Event; // that has taken it
}

const kinds: Record<string, string> = { SignalReceived: "signal", UpdateReceived: "update", CancelRequested: "cancel request", ChildCompleted: "answer of a child", ChildFailed: "answer of a child", SignalSent: "answer to a signal", SignalRefused: "answer to a signal", MessageDropped: "dropped answer" };
const pageMax = 100;

// Messages are what the run was told: what it has yet to take, what it could not read, what it
// has taken.
export function Messages({ detail, events, version, skip, loading }: { detail: Detail; events: Event[]; version: number; skip?: (message: number) => void; loading: boolean }) {
	const taken = useMemo(() => events.filter((e) => e.inbox).reverse(), [events, version]);
	const byInbox = useMemo(() => new Map(taken.map((e) => [e.inbox!, e])), [taken]);
	const [pages, setPages] = useState(1);
	const run = detail.run.id;
	const waiting = detail.inbox ?? [];
	const aside = detail.set_aside ?? [];
	const updates = detail.updates ?? [];
	const rowOf = (e: Event): Row => ({ number: e.inbox!, kind: kinds[e.kind] ?? e.kind, name: e.name, at: e.time, payload: e.payload, event: e });
	if (!loading && !waiting.length && !taken.length && !aside.length && !updates.length) return <Empty title="No message waits, and the run has taken none." />;
	return (
		<div class="messages">
			<h2>Waiting <span class="count">{count(detail.unread)}</span></h2>
			{waiting.length ? <List run={run} label="Messages that wait" rows={waiting} skip={skip} /> : <p class="hint">The run has taken all messages.</p>}
			{detail.unread > waiting.length && waiting.length > 0 && <p class="hint">These are the first {count(waiting.length)} of {count(detail.unread)}.</p>}
			{aside.length > 0 && <>
				<h2>Set aside <span class="count">{count(aside.length)}</span></h2>
				<p class="hint">Signals that did not decode when the code was about to receive them. Send what was meant again, under another key.</p>
				<List run={run} label="Messages that were set aside" rows={aside.map((m) => ({ ...(byInbox.get(m.number) && rowOf(byInbox.get(m.number)!)), number: m.number, name: m.name, kind: "signal" }))} skip={skip} />
			</>}
			{updates.length > 0 && <>
				<h2>Without an answer yet <span class="count">{count(updates.length)}</span></h2>
				<List run={run} label="Updates without an answer" rows={updates.map((m) => ({ ...(byInbox.get(m.number) && rowOf(byInbox.get(m.number)!)), number: m.number, name: m.name, kind: "update" }))} />
			</>}
			<h2>Taken <span class="count">{count(taken.length)}</span></h2>
			{taken.length ? <List run={run} label="Messages that were taken, newest first" rows={taken.slice(0, pages * pageMax).map(rowOf)} skip={skip} /> : <p class="hint">The present generation has taken none.</p>}
			{taken.length > pages * pageMax && <p><button type="button" onClick={() => setPages(pages + 1)}>Show {many(Math.min(pageMax, taken.length - pages * pageMax), "more", "more")}</button></p>}
		</div>
	);
}

function List({ run, label, rows, skip }: { run: string; label: string; rows: Row[]; skip?: (message: number) => void }) {
	return <ul class="cards" aria-label={label}>{rows.map((r) => <Card key={r.number} run={run} r={r} skip={skip} />)}</ul>;
}

// Card is a message. What it carries is shown, and read if need be, when it is opened.
function Card({ run, r, skip }: { run: string; r: Row; skip?: (message: number) => void }) {
	const [open, setOpen] = useState(false);
	return (
		<li>
			<details onToggle={(e) => setOpen(e.currentTarget.open)}>
				<summary><span class="seq">{r.number}</span> <span class="kind">{r.kind}</span> <strong>{r.name && <Text max={100}>{r.name}</Text>}</strong> {r.at && <span class="soft"><Time at={r.at} /></span>} <span class="carries"><Text max={121}>{r.event ? briefOf(r.event, 120) : brief(r.payload, 120)}</Text></span></summary>
				{open && (r.event ? <Carried run={run} e={r.event} name={`message ${r.number}`} absent="It carries nothing." /> : <PayloadView payload={r.payload} name={`message ${r.number}`} absent="It carries nothing." />)}
				{skip && /^(signal|update|cancel request)$/.test(r.kind) && <p><button type="button" onClick={() => skip(r.number)}>Leave it out…</button></p>}
			</details>
		</li>
	);
}
