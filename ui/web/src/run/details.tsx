import type { Event } from "../api";
import { plain } from "../parts/text";
import { to } from "../router";
import { Carried } from "./carried";
import { Moment } from "./facts";
import type { Item } from "./model";
import { iso, took } from "./moment";
import { ended, label, type Row } from "./waterfall";

const words: Record<Item["state"], string> = { open: "goes on", done: "done", failed: "failed", cancelled: "cancelled", left: "left when the run ended" };

// Details says all that is known of an item.
export function Details({ row, generation, event, until, fit, toggle, close, actions }: {
	row: Row;
	generation: number;
	event?: Event; // its outcome
	until: number;
	fit: () => void;
	toggle: () => void;
	close: () => void;
	actions?: preact.ComponentChildren;
}) {
	const { item } = row;
	const inside = row.open?.run;
	return (
		<section class="details" id="details" tabIndex={-1} aria-label="The chosen item">
			<header class="row">
				<h2><span class="kind">{item.kind}</span> <bdi>{plain(label(item))}</bdi></h2>
				<span class="row end">
					<button type="button" class="quiet" onClick={fit}>Zoom to it</button>
					{item.kind === "child" && item.cmd !== undefined && <button type="button" class="quiet" aria-expanded={!!row.open} onClick={toggle}>{row.open ? "Hide what it has done" : "Show what it has done"}</button>}
					{inside && <a href={to(["runs", inside])}>Open the child</a>}
					<button type="button" class="quiet" aria-label="Close the details" onClick={close}>✕</button>
				</span>
			</header>
			<dl class="facts">
				<div><dt>State</dt><dd>{words[item.state]}</dd></div>
				<div><dt>{item.cmd ? "Asked for" : "From"}</dt><dd><Moment at={iso(item.from)} /></dd></div>
				{item.to !== undefined && item.to !== item.from && <div><dt>{item.cmd ? "Outcome" : "Until"}</dt><dd><Moment at={iso(item.to)} /></dd></div>}
				{item.to !== item.from && <div><dt>Took</dt><dd>{took(ended(item, until) - item.from)}{item.to === undefined && "…"}</dd></div>}
				{!!item.attempts && <div><dt>{item.state === "open" ? "Failed attempts" : "Attempts"}</dt><dd>{item.attempts}</dd></div>}
				{item.next !== undefined && <div><dt>Next attempt</dt><dd><Moment at={iso(item.next)} /></dd></div>}
				{item.due !== undefined && <div><dt>Due</dt><dd><Moment at={iso(item.due)} /></dd></div>}
				{item.seq !== undefined && <div><dt>Event</dt><dd>{item.seq}</dd></div>}
				{item.cmd !== undefined && <div><dt>Command</dt><dd>{item.cmd}</dd></div>}
				{item.inbox !== undefined && <div><dt>Message</dt><dd>{item.inbox}</dd></div>}
				{item.note && <div><dt>Note</dt><dd>{item.note}</dd></div>}
			</dl>
			{event && <Carried run={row.of} generation={row.depth === 0 ? generation : undefined} e={event} name={label(item)} absent="no value" />}
			{actions && <p class="row">{actions}</p>}
		</section>
	);
}
