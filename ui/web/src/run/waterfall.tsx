import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { Event } from "../api";
import { useKeys } from "../keys";
import { Empty } from "../parts/empty";
import { line, many } from "../parts/text";
import { span } from "../parts/time";
import { Axis, type Range, Strip, zoomed } from "./axis";
import { Details } from "./details";
import { Lanes } from "./lanes";
import type { Item, Kind } from "./model";
import { distance, iso, took } from "./moment";
import { type Nested, useChildren } from "./nested";
import { Windowed } from "./window";

// rowHeight is that of a row, also in the style.
const rowHeight = 24;

export const signs: Record<Kind, string> = { step: "▪", timer: "◷", child: "↳", send: "→", signal: "←", update: "⇄", cancel: "⊘", state: "‖", wait: "…" };
const words: Record<Kind, string> = { step: "steps", timer: "timers", child: "children", send: "sent", signal: "signals", update: "updates", cancel: "cancel requests", state: "states", wait: "waits" };

// Band is a time in which something was true of the whole run.
export interface Band {
	from: number;
	to?: number;
	what: string;
}

// Row is an item of the run, or of a child that is shown inline.
export interface Row {
	item: Item;
	depth: number;
	path: string; // ids from the run down
	of: string; // id of the run that it is an item of
	events: Event[]; // of that run
	open?: Nested; // what is inside, if it is shown
}

// rowsOf are the items of a run, with what is inside of those that are open.
function rowsOf(items: Item[], of: string, events: Event[], open: ReadonlyMap<string, Nested>, depth = 0, before = ""): Row[] {
	const rows: Row[] = [];
	for (const item of items) {
		const path = before + item.id;
		const inside = open.get(path);
		rows.push({ item, depth, path, of, events, open: inside });
		// Not by a spread: a child may have more items than a call takes arguments.
		if (inside?.items) for (const row of rowsOf(inside.items, inside.run, inside.events ?? [], open, depth + 1, path + "/")) rows.push(row);
	}
	return rows;
}

// ended is when an item ends as it is drawn.
export const ended = (item: Item, now: number) => item.to ?? Math.max(now, item.from);

// WaterfallView draws what a generation has done over time. Keys zoom: + and - around the middle,
// [ and ] to the left and the right, 0 shows all.
export function WaterfallView({ run, generation, events, items, from, until, bands, present, busy, actions }: {
	run: string;
	generation: number;
	events: Event[];
	items: Item[];
	from: number;
	until: number; // end of the picture: now for a run that goes on
	bands: Band[];
	present: boolean; // whether it is the generation that goes on
	busy: boolean;
	actions: (row: Row, event?: Event) => ComponentChildren; // what can be done about an item of the run
}) {
	const [range, setRange] = useState<Range>();
	const [side, setSide] = useState(false);
	const [hidden, hide] = useState<ReadonlySet<Kind>>(new Set());
	const [text, setText] = useState("");
	const [failed, setFailed] = useState(false);
	const [chosen, choose] = useState<string>();
	const { open, toggle } = useChildren(generation);
	const all = useMemo<Range>(() => {
		const width = Math.max(until - from, 1);
		return [from - width * 0.005, until + width * 0.01];
	}, [from, until]);
	const shown = range ?? all;
	const kinds = useMemo(() => [...new Set(items.map((i) => i.kind))], [items]);
	const matching = useMemo(() => {
		const wanted = text.toLowerCase();
		return items.filter((i) => !hidden.has(i.kind) && (!failed || i.state === "failed" || (i.attempts ?? 0) > 1) && (!wanted || i.name.toLowerCase().includes(wanted)));
	}, [items, hidden, text, failed]);
	const rows = useMemo(() => {
		const inside = range ? matching.filter((i) => i.from <= range[1] && ended(i, until) >= range[0]) : matching;
		return rowsOf(inside, run, events, open);
	}, [matching, range, open, until]);
	const at = chosen === undefined ? -1 : rows.findIndex((r) => r.path === chosen);
	// From what is chosen and not from what is drawn: keys come faster than pictures.
	const zoom = (by: number, around?: number) => setRange((r) => zoomed(r ?? all, all, by, around));
	const move = (by: number) => setRange((r) => {
		if (!r) return r;
		const width = r[1] - r[0];
		const left = Math.max(all[0], Math.min(all[1] - width, r[0] + by * width));
		return [left, left + width];
	});
	useKeys("waterfall", {
		"+": { does: "zoom in", act: () => zoom(0.5) },
		"-": { does: "zoom out", act: () => zoom(2) },
		"[": { does: "earlier", act: () => move(-0.5) },
		"]": { does: "later", act: () => move(0.5) },
		"0": { does: "the whole time", act: () => setRange(undefined) },
	});
	const row = rows[at];
	const event = row?.item.seq ? row.events[row.item.seq - row.events[0]!.seq] : undefined;
	const fit = (item: Item) => {
		const end = ended(item, until);
		const room = Math.max((end - item.from) * 0.1, 0.5);
		setRange([item.from - room, end + room]);
	};
	return (
		<section class="waterfall" aria-label="Waterfall">
			<div class="bar row">
				<input data-filter type="search" aria-label="Show items whose name has" placeholder="name" value={text} onInput={(e) => setText(e.currentTarget.value)} />
				<fieldset class="row kinds"><legend class="hidden">Show</legend>
					{kinds.map((k) => <label key={k} class="check"><input type="checkbox" checked={!hidden.has(k)} onChange={(e) => hide(without(hidden, k, e.currentTarget.checked))} /> {words[k]}</label>)}
					<label class="check"><input type="checkbox" checked={failed} onChange={(e) => setFailed(e.currentTarget.checked)} /> only failed or repeated</label>
				</fieldset>
				<span class="row end">
					<label class="check"><input type="checkbox" checked={side} onChange={(e) => setSide(e.currentTarget.checked)} /> strands side by side</label>
					<span class="row joined">
						<button type="button" aria-label="Zoom in" onClick={() => zoom(0.5)}>+</button>
						<button type="button" aria-label="Zoom out" onClick={() => zoom(2)} disabled={!range}>−</button>
						<button type="button" onClick={() => setRange(undefined)} disabled={!range}>All</button>
					</span>
				</span>
			</div>
			<Strip items={matching} all={all} range={range} until={until} set={setRange} />
			<p class="hint small" role="status">{many(rows.length, "row")}{rows.length < items.length && ` of ${items.length.toLocaleString("en-US")}`}{range && `, ${distance(Math.max(0, range[0] - from))} to ${distance(range[1] - from)} after the beginning`}</p>
			<div class="plot" data-side={side}>
				<Axis range={shown} from={from} zoom={zoom} set={setRange} />
				{bands.map((b, i) => <Shade key={i} band={b} range={shown} until={until} />)}
				{side ? <Lanes items={matching} range={shown} until={until} chosen={chosen} choose={choose} /> : rows.length === 0 ? <Empty title={items.length ? "Nothing is like this." : busy ? "…" : present ? "The run has not begun." : "This generation has nothing."} /> : (
					<Windowed role="tree" label="What the run has done" count={rows.length} height={rowHeight} at={at} to={(i) => choose(rows[i]!.path)} busy={busy}
						open={(i, on) => rows[i]!.item.kind === "child" && on !== !!rows[i]!.open && toggle(rows[i]!)}
						enter={() => document.getElementById("details")?.focus()}
						row={(i, attributes) => <RowView key={rows[i]!.path} row={rows[i]!} attributes={attributes} range={shown} until={until} choose={() => choose(rows[i]!.path)} toggle={() => toggle(rows[i]!)} />} />
				)}
			</div>
			{row && <Details row={row} generation={generation} event={event} actions={row.depth === 0 ? actions(row, event) : undefined} until={until} fit={() => fit(row.item)} toggle={() => toggle(row)} close={() => choose(undefined)} />}
		</section>
	);
}

function without<T>(set: ReadonlySet<T>, x: T, on: boolean): Set<T> {
	const next = new Set(set);
	if (on) next.delete(x);
	else next.add(x);
	return next;
}

// place is where a time is in the picture, in parts of its width.
export const place = (ms: number, [from, to]: Range) => (ms - from) / (to - from);

function Shade({ band, range, until }: { band: Band; range: Range; until: number }) {
	const left = Math.max(0, place(band.from, range));
	const right = Math.min(1, place(band.to ?? until, range));
	if (right <= 0 || left >= 1) return null;
	return <div class="shade" title={band.what}><span style={{ left: `${left * 100}%`, width: `${(right - left) * 100}%` }} /></div>;
}

// label is what an item is called.
export const label = (item: Item) => item.name || item.kind;

function RowView({ row, attributes, range, until, choose, toggle }: { row: Row; attributes: Record<string, unknown>; range: Range; until: number; choose: () => void; toggle: () => void }) {
	const { item, depth } = row;
	const end = ended(item, until);
	const left = Math.max(0, place(item.from, range));
	const right = Math.min(1, place(end, range));
	const expandable = item.kind === "child" && item.cmd !== undefined;
	const off = right < 0 || left > 1; // something inside of it is in the picture
	return (
		<div {...attributes} class="item" data-kind={item.kind} data-state={item.state} aria-level={depth + 1} aria-expanded={expandable ? !!row.open : undefined} onClick={choose} onDblClick={expandable ? toggle : undefined}>
			<span class="name" style={{ paddingLeft: `${depth * 14 + 4}px` }} title={line(label(item), 600)}>
				<span class="twisty" onClick={expandable ? (e) => { e.stopPropagation(); toggle(); } : undefined} aria-hidden="true">{expandable ? (row.open ? "▾" : "▸") : ""}</span>
				<span class="sign" aria-hidden="true">{signs[item.kind]}</span>
				<span class="hidden">{item.kind}, {item.state}: </span>
				<bdi>{line(label(item), 80)}</bdi>
				{(item.attempts ?? 0) > (item.state === "open" ? 0 : 1) && <span class="times"> ×{item.attempts}</span>}
			</span>
			<span class="track">
				{!off && <span class={item.to === item.from ? "mark" : "bar"} style={{ left: `${left * 100}%`, width: `${Math.max(0, right - left) * 100}%` }} />}
				{item.next !== undefined && inside(item.next, range) && <span class="next" title={`next attempt ${iso(item.next)}`} style={{ left: `${place(item.next, range) * 100}%` }} />}
			</span>
			<span class="took">{row.open?.loading ? "…" : item.to === item.from ? "" : item.to === undefined ? lasting(item, until) : took(item.to - item.from)}</span>
		</div>
	);
}

const inside = (ms: number, [from, to]: Range) => ms >= from && ms <= to;

// lasting is how long something goes on: a timer until it is due, other things since they began.
const lasting = (item: Item, until: number) => (item.due !== undefined && item.due > until ? `in ${span(item.due - until)}` : span(Math.max(0, until - item.from)) + "…");
