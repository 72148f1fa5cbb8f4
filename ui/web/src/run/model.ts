import type { Detail, Event } from "../api";
import { at } from "./moment";

// What a run has done is drawn from its history alone. A command is counted by its place in all
// that the generation has asked for, and an event that answers it has that number.

export type Kind = "step" | "timer" | "child" | "send" | "signal" | "update" | "cancel" | "state" | "wait";
export type State = "open" | "done" | "failed" | "cancelled" | "left";

// Item is something that takes time, or happens, in a run.
export interface Item {
	id: string; // in its run
	kind: Kind;
	name: string;
	state: State;
	from: number; // milliseconds
	to?: number; // absent while it lasts; the same as from for what happens at once
	cmd?: number;
	inbox?: number;
	asked?: number; // number of the event that it was asked for after
	seq?: number; // of its outcome
	attempts?: number;
	due?: number; // of a timer
	next?: number; // of a step: when it is tried again
	note?: string;
	rest?: string; // what stands behind the kind in the list of commands
}

// Waterfall is a generation of a run.
export interface Waterfall {
	items: Item[]; // by their beginnings
	from: number;
	last: number; // time of the newest event
	ended: boolean;
}

const outcomes: Record<string, State> = { StepCompleted: "done", StepFailed: "failed", TimerFired: "done", ChildCompleted: "done", ChildFailed: "failed", SignalSent: "done", SignalRefused: "failed" };
const ends: Record<string, State> = { RunCompleted: "done", RunFailed: "failed", RunCancelled: "cancelled", RunTerminated: "cancelled", RunContinued: "done" };

// reader goes through a history once.
class Reader {
	items: Item[] = [];
	open = new Map<number, Item>(); // by command
	replies = new Map<number, Item>(); // updates by their messages
	cmd = 0;
	last = 0;
	ended = false;

	event(e: Event) {
		const now = at(e.time);
		if (e.cmd) this.answer(e, now);
		else if (e.kind === "SignalReceived" || e.kind === "UpdateReceived" || e.kind === "CancelRequested") this.message(e, now);
		for (const text of e.issued ?? []) this.command(text, e.seq, now);
		this.last = now;
		const end = ends[e.kind];
		if (end) this.close(now);
	}

	answer(e: Event, now: number) {
		const item = this.open.get(e.cmd!);
		if (!item) return;
		item.to = now;
		item.state = outcomes[e.kind] ?? "done";
		item.seq = e.seq;
		item.attempts = e.attempt;
		if (e.name) item.name = e.name;
		item.note = undefined;
		if (item.kind === "step" && !e.attempt) item.note = "an operator has given it its result";
		this.open.delete(e.cmd!);
	}

	// message is one that the code has taken. What it has waited for it is the time since the event
	// before, unless something else went on.
	message(e: Event, now: number) {
		const busy = this.busy();
		const kind: Kind = e.kind === "SignalReceived" ? "signal" : e.kind === "UpdateReceived" ? "update" : "cancel";
		const item: Item = { id: "m" + e.seq, kind, name: e.name || "request to cancel", state: "done", from: kind !== "update" && !busy && this.last ? this.last : now, to: now, seq: e.seq, inbox: e.inbox };
		this.items.push(item);
		if (kind !== "update") return;
		item.to = undefined;
		item.state = "open";
		if (e.inbox) this.replies.set(e.inbox, item);
	}

	// busy tells whether a step or a child has no outcome.
	busy() {
		for (const item of this.open.values()) if (item.kind !== "timer" && item.to === undefined) return true;
		return false;
	}

	command(text: string, asked: number, now: number) {
		const cmd = ++this.cmd;
		const space = text.indexOf(" ");
		const word = space < 0 ? text : text.slice(0, space);
		const rest = space < 0 ? "" : text.slice(space + 1);
		switch (word) {
			case "step":
			case "child":
			case "send":
				return this.add({ id: "c" + cmd, kind: word, name: word === "send" ? rest.replace(/ ?\S+$/, "") || "request to cancel" : rest, state: "open", from: now, cmd, asked, rest });
			case "timer": {
				const [due, ...name] = rest.split(" ");
				return this.add({ id: "c" + cmd, kind: "timer", name: name.join(" "), state: "open", from: now, cmd, asked, due: at(due!) });
			}
			case "cancel": {
				const item = this.open.get(Number(rest));
				if (!item) return;
				// Whether a step or a child takes notice is told by its outcome, if one comes.
				item.to = now;
				item.state = "cancelled";
				item.note = item.kind === "timer" ? undefined : "it was asked to stop";
				if (item.kind === "timer") this.open.delete(Number(rest));
				return;
			}
			case "reply": {
				const n = Number(/(\d+)$/.exec(rest)?.[1]);
				const item = this.replies.get(n);
				if (!item) return;
				item.to = now;
				item.state = "done";
				this.replies.delete(n);
			}
		}
	}

	add(item: Item) {
		this.items.push(item);
		this.open.set(item.cmd!, item);
	}

	close(now: number) {
		this.ended = true;
		for (const item of [...this.open.values(), ...this.replies.values()]) {
			if (item.to !== undefined) continue;
			item.to = now;
			item.state = "left";
		}
	}
}

// read makes the waterfall of a history.
export function read(events: Event[]): Waterfall {
	const r = new Reader();
	for (const e of events) r.event(e);
	return { items: r.items, from: events.length ? at(events[0]!.time) : 0, last: r.last, ended: r.ended };
}

// complete adds what stands in the run's row and not in its history: attempts, what it waits for,
// why it does not go on.
export function complete(w: Waterfall, d: Detail, reasons: Array<{ kind: string; text: string; since?: string }>): Waterfall {
	const steps = new Map(d.steps?.map((s) => [s.cmd, s]));
	const timers = new Map(d.timers?.map((t) => [t.cmd, t]));
	const children = new Map(d.children?.map((c) => [c.cmd, c]));
	const items = w.items.map((item) => {
		const step = item.cmd && steps.get(item.cmd);
		if (step) return { ...item, to: undefined, state: "open" as State, attempts: step.attempts, next: step.next_at ? at(step.next_at) : undefined, note: step.cancelled ? "it was asked to stop" : step.exhausted ? "it may not be tried again, and has paused the run" : undefined };
		const timer = item.cmd && timers.get(item.cmd);
		if (timer) return { ...item, due: timer.due_at ? at(timer.due_at) : undefined, note: timer.left ? `it stands still, with ${timer.left} left` : undefined };
		const child = item.cmd && children.get(item.cmd);
		if (child) return { ...item, name: child.workflow, to: undefined, state: "open" as State };
		return item;
	});
	const created = at(d.run.created_at);
	const begins = at(d.run.start_at);
	let from = w.from || created;
	if (d.run.generation === 1 && begins > created) {
		from = created;
		items.unshift({ id: "delay", kind: "state", name: "start delayed", state: w.items.length || w.last ? "done" : "open", from: created, to: w.last ? begins : undefined, due: begins });
	}
	for (const [i, r] of reasons.entries()) {
		// A run that no node serves has waited for one since it was due.
		const since = r.since ? at(r.since) : r.kind === "unserved" && d.run.visible_at ? at(d.run.visible_at) : undefined;
		if (!since || w.ended) continue;
		if (r.kind === "signal" || r.kind === "other" || r.kind === "stuck") items.push({ id: "w" + i, kind: "wait", name: r.text, state: "open", from: since });
		else if (/^(paused|blocked|quarantined|queued|unserved|owned)$/.test(r.kind)) items.push({ id: "w" + i, kind: "state", name: `${r.kind}: ${r.text}`, state: "open", from: since });
	}
	items.sort((a, b) => a.from - b.from);
	return { ...w, items, from };
}

// Lane is a row of items of which none begins before the one before it has ended.
export interface Lane {
	items: Item[];
	until: number;
}

// lanes puts items side by side that go on at the same time, in as few rows as that takes: what
// strands do at once stands below each other, and what comes one after the other in one row.
export function lanes(items: Item[], now: number): Lane[] {
	const list: Lane[] = [];
	const free = new Heap();
	const busy = new Heap();
	for (const item of items) {
		// Lanes that are free by now, the uppermost first.
		while (busy.size && busy.top[0] <= item.from) free.push([busy.top[1], busy.pop()[1]]);
		const n = free.size ? free.pop()[1] : list.length;
		if (n === list.length) list.push({ items: [], until: 0 });
		const lane = list[n]!;
		lane.items.push(item);
		lane.until = item.to ?? now;
		busy.push([Math.max(lane.until, item.from), n]);
	}
	return list;
}

// Heap gives out the smallest first.
class Heap {
	private list: Array<[number, number]> = [];
	get size() {
		return this.list.length;
	}
	get top() {
		return this.list[0]!;
	}
	push(x: [number, number]) {
		const l = this.list;
		let i = l.push(x) - 1;
		while (i > 0) {
			const up = (i - 1) >> 1;
			if (l[up]![0] <= x[0]) break;
			l[i] = l[up]!;
			i = up;
		}
		l[i] = x;
	}
	pop(): [number, number] {
		const l = this.list;
		const top = l[0]!;
		const x = l.pop()!;
		if (!l.length) return top;
		let i = 0;
		for (;;) {
			let down = 2 * i + 1;
			if (down >= l.length) break;
			if (down + 1 < l.length && l[down + 1]![0] < l[down]![0]) down++;
			if (l[down]![0] >= x[0]) break;
			l[i] = l[down]!;
			i = down;
		}
		l[i] = x;
		return top;
	}
}
