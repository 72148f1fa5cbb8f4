import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { Detail, Event } from "../api";
import { address } from "../client";
import { useKeys } from "../keys";
import { Field } from "../parts/field";
import { Written, written } from "../parts/payload";
import { count, line, many, plain } from "../parts/text";
import { Carried } from "./carried";
import { Moment } from "./facts";
import { at as timeAt, took } from "./moment";
import { Fits } from "./fits";
import { briefOf } from "./preview_text";
import { Sentence } from "./why";
import { Windowed } from "./window";

type Form = "compact" | "full" | "json";
const forms: Form[] = ["compact", "full", "json"];
const heights = { compact: 24, full: 66 }; // also in the style
const jsonMax = 50; // events on a page

// HistoryView lists the events of a generation: in a line each, with what they carry and ask for,
// or as the API has them.
export function HistoryView({ run, events, generation, present, chosen, choose, actions, busy }: {
	run: string;
	events: Event[];
	generation?: number; // of which it is; absent for the present one
	present: boolean;
	chosen?: number; // number of an event
	choose: (seq: number | undefined) => void;
	actions: (e: Event) => ComponentChildren;
	busy: boolean;
}) {
	const [form, setForm] = useState<Form>("compact");
	const [text, setText] = useState("");
	const [from, setFrom] = useState(0); // of the page in JSON
	const shown = useMemo(() => {
		const wanted = text.trim().toLowerCase();
		if (!wanted) return events;
		if (/^#?\d+$/.test(wanted)) return events.filter((e) => e.seq === Number(wanted.replace("#", "")));
		return events.filter((e) => e.kind.toLowerCase().includes(wanted) || e.name?.toLowerCase().includes(wanted) || e.issued?.some((i) => i.toLowerCase().includes(wanted)));
	}, [events, events.length, text]);
	const at = chosen === undefined ? -1 : shown.findIndex((e) => e.seq === chosen);
	const event = shown[at];
	useKeys("history", { v: { does: "the history compact, full or as JSON", act: () => setForm((f) => forms[(forms.indexOf(f) + 1) % forms.length]!) } });
	const download = address("GET /runs/{run}/download", { path: { run }, query: { generation } });
	const begin = events[0] && timeAt(events[0].time);
	return (
		<section class="history" aria-label="History">
			<div class="bar row">
				<input data-filter type="search" aria-label="Show events with" placeholder="kind, name or number" value={text} onInput={(e) => { setText(e.currentTarget.value); setFrom(0); }} />
				<fieldset class="row joined"><legend class="hidden">How</legend>
					{forms.map((f) => <label key={f} class="choice"><input type="radio" name="form" checked={form === f} onChange={() => setForm(f)} /> {f === "json" ? "JSON" : f}</label>)}
				</fieldset>
				<span class="row end">
					<span class="hint small" role="status">{many(shown.length, "event")}{shown.length !== events.length && ` of ${count(events.length)}`}</span>
					<a href={download} download={`${run}${generation ? "." + generation : ""}.jsonl`}>Download</a>
				</span>
			</div>
			{form === "json" ? (
				<>
					<Written text={written(shown.slice(from, from + jsonMax))} name="history in JSON" />
					{shown.length > jsonMax && (
						<p class="row">
							<button type="button" disabled={from === 0} onClick={() => setFrom(Math.max(0, from - jsonMax))}>Earlier</button>
							<span class="small">{count(from + 1)} to {count(Math.min(from + jsonMax, shown.length))} of {count(shown.length)}</span>
							<button type="button" disabled={from + jsonMax >= shown.length} onClick={() => setFrom(from + jsonMax)}>Later</button>
						</p>
					)}
				</>
			) : (
				<div class={"list " + form}>
					<Windowed role="listbox" label={`Events of generation ${generation ?? "that goes on"}`} count={shown.length} height={heights[form]} shown={form === "full" ? 9 : 24} at={at} to={(i) => choose(shown[i]!.seq)} busy={busy} enter={() => document.getElementById("details")?.focus()}
						row={(i, attributes) => <EventRow key={shown[i]!.seq} e={shown[i]!} form={form} begin={begin ?? 0} attributes={attributes} choose={() => choose(shown[i]!.seq)} />} />
					{shown.length === 0 && <p class="hint nothing">{events.length ? "No event is like this." : busy ? "…" : present ? "The run has not begun." : "This generation has no events."}</p>}
				</div>
			)}
			{present && events.length > 0 && <Fits run={run} />}
			{event && form !== "json" && <EventDetails run={run} generation={generation} e={event} close={() => choose(undefined)} actions={actions(event)} />}
		</section>
	);
}

// kindOf says whether an event is good news.
const look = (kind: string) => (/Failed|Refused|Terminated/.test(kind) ? "failed" : /Cancel/.test(kind) ? "cancelled" : /Completed|Fired|Sent$/.test(kind) ? "done" : "");

function EventRow({ e, form, begin, attributes, choose }: { e: Event; form: Form; begin: number; attributes: Record<string, unknown>; choose: () => void }) {
	return (
		<div {...attributes} class="event" data-kind={e.kind} data-look={look(e.kind)} onClick={choose}>
			<span class="seq">{e.seq}</span>
			<span class="when" title={e.time}>+{took(timeAt(e.time) - begin)}</span>
			<span class="what">{e.kind}</span>
			<span class="who"><bdi>{line(e.name ?? "", 60)}</bdi>{(e.attempt ?? 0) > 1 && <span class="times"> ×{e.attempt}</span>}</span>
			{form === "compact" ? <span class="carries"><bdi>{line(briefOf(e, 120), 121)}</bdi></span> : (
				<>
					<span class="carries"><bdi>{line(briefOf(e, 240), 241)}</bdi></span>
					<span class="asks">{e.issued?.length ? <><span class="soft">then asked for </span><bdi>{line(e.issued.slice(0, 8).join(", "), 200)}</bdi>{e.issued.length > 8 && ` and ${e.issued.length - 8} more`}</> : <span class="soft">then asked for nothing</span>}</span>
				</>
			)}
		</div>
	);
}

const issuedMax = 200;

function EventDetails({ run, generation, e, close, actions }: { run: string; generation?: number; e: Event; close: () => void; actions: ComponentChildren }) {
	const issued = e.issued ?? [];
	return (
		<section class="details" id="details" tabIndex={-1} aria-label="The chosen event">
			<header class="row">
				<h2><span class="kind">{e.seq}</span> {e.kind} <bdi>{plain(e.name ?? "")}</bdi></h2>
				<span class="row end"><button type="button" class="quiet" aria-label="Close the details" onClick={close}>✕</button></span>
			</header>
			<dl class="facts">
				<div><dt>Time</dt><dd><Moment at={e.time} /></dd></div>
				{!!e.cmd && <div><dt>Answers command</dt><dd>{e.cmd}</dd></div>}
				{!!e.inbox && <div><dt>Message</dt><dd>{e.inbox}</dd></div>}
				{!!e.attempt && <div><dt>Attempts</dt><dd>{e.attempt}</dd></div>}
			</dl>
			<Carried run={run} generation={generation} e={e} name={`payload of event ${e.seq}`} absent="It carries nothing." />
			{issued.length > 0 && <div class="issued"><p class="hint">In reaction the code asked for</p><ol>{issued.slice(0, issuedMax).map((i, n) => <li key={n}><Sentence text={i.length > 300 ? i.slice(0, 300) + "…" : i} /></li>)}</ol>{issued.length > issuedMax && <p class="hint">and {count(issued.length - issuedMax)} more</p>}</div>}
			{actions && <p class="row">{actions}</p>}
		</section>
	);
}

// Generations lists what a run was before it continued as new or went back, and chooses one.
export function Generations({ detail, chosen, choose }: { detail: Detail; chosen?: number; choose: (g: number | undefined) => void }) {
	const { generation } = detail.run;
	const began = useMemo(() => beginnings(detail), [detail]);
	const list: number[] = [];
	for (let g = generation; g > Math.max(0, generation - 200); g--) list.push(g);
	if (generation === 1) return null;
	return (
		<div class="generations">
			<Field label="Generation" hint={began.get(chosen ?? generation) ?? ((chosen ?? generation) === 1 ? "It began with the start." : "It continued as new.")}>
				<select value={chosen ?? generation} onChange={(e) => choose(Number(e.currentTarget.value) === generation ? undefined : Number(e.currentTarget.value))}>
					{list.map((g) => <option key={g} value={g}>{g}{g === generation ? ", the present one" : ""}{began.has(g + 1) ? ", a branch that was left" : ""}</option>)}
				</select>
			</Field>
		</div>
	);
}

// beginnings says how generations began that are no continue-as-new.
function beginnings(detail: Detail): Map<number, string> {
	const map = new Map<number, string>();
	for (const a of detail.rewinds ?? []) {
		const g = Number(/^generation (\d+) begins/.exec(a.detail ?? "")?.[1]);
		if (g) map.set(g, `${a.verb} by ${plain(a.actor || "somebody")}: ${plain(a.detail!)}${a.reason ? ". " + plain(a.reason) : ""}`);
	}
	return map;
}
