import { useRef, useState } from "preact/hooks";
import type { Event, Problem, Run } from "../api";
import { call, now, problemOf } from "../client";
import { quote } from "../parts/link";
import { payloadMax } from "./history";
import { type Item, read } from "./model";
import type { Row } from "./waterfall";

// Nested is a child whose items are shown inside of its parent's.
export interface Nested {
	run: string; // its id
	items?: Item[];
	events?: Event[];
	loading: boolean;
	problem?: Problem;
}

const pageMax = 200;

// Children finds the children of a run by the commands that have started them, reading the list of
// them as far as it takes.
class Children {
	private byCmd = new Map<number, Run[]>();
	private cursor?: string;
	private all = false;

	constructor(readonly run: string) {}

	// find returns the child of a command, as a generation has it: after a reset, the code may have
	// started another one.
	async find(cmd: number, generation: number): Promise<Run | undefined> {
		for (;;) {
			const best = this.byCmd.get(cmd)?.filter((r) => (r.parent_generation ?? 1) <= generation).sort((a, b) => (b.parent_generation ?? 1) - (a.parent_generation ?? 1))[0];
			if (best || this.all) return best;
			const page = await call("GET /runs", { query: { where: `parent = ${quote(this.run)}`, limit: pageMax, cursor: this.cursor } });
			for (const r of page.runs) this.byCmd.set(r.parent_cmd ?? 0, [...(this.byCmd.get(r.parent_cmd ?? 0) ?? []), r]);
			this.cursor = page.next;
			this.all = !page.next;
		}
	}
}

// useChildren shows children inline: what is inside of which item, and how to open and close one.
// What was read stays until it is opened anew.
export function useChildren(generation: number) {
	const known = useRef(new Map<string, Children>());
	const [open, set] = useState<ReadonlyMap<string, Nested>>(new Map());
	const put = (path: string, n: Nested) => set((m) => new Map(m).set(path, n));
	const toggle = async (row: Row) => {
		const { path, of, item } = row;
		if (open.has(path)) {
			set((m) => new Map([...m].filter(([p]) => p !== path && !p.startsWith(path + "/"))));
			return;
		}
		put(path, { run: "", loading: true });
		let run = "";
		try {
			let children = known.current.get(of);
			if (!children) known.current.set(of, (children = new Children(of)));
			const child = await children.find(item.cmd!, row.depth === 0 ? generation : Infinity);
			if (!child) {
				known.current.delete(of); // it may have been started since
				throw new Error("the child is not there: it was deleted, it could not be started, or it is just being started");
			}
			run = child.id;
			const events = await call("GET /runs/{run}/history", { path: { run }, query: { payload_bytes: payloadMax } });
			const w = read(events);
			if (w.items.length === 0) w.items.push({ id: "none", kind: "state", name: events.length ? `it has asked for nothing${w.ended ? "" : " yet"}` : "it has not begun", state: w.ended ? "done" : "open", from: w.from || Date.parse(child.created_at), to: w.ended ? w.last : undefined });
			put(path, { run, items: w.items, events, loading: false });
		} catch (e) {
			const problem = problemOf(e);
			put(path, { run, loading: false, problem, events: [], items: [{ id: "problem", kind: "state", name: problem.detail, state: "failed", from: item.from, to: item.to ?? now() }] });
		}
	};
	return { open, toggle };
}
