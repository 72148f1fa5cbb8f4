import type { Audit, Detail } from "../api";
import { plain } from "../parts/text";
import { at } from "./moment";
import type { Band } from "./waterfall";

// bandsOf are the times in which a run was paused, as the audit has them, and in which its timers
// stood still.
export function bandsOf(detail: Detail, audit: Audit[]): Band[] {
	const bands: Band[] = [];
	for (const a of [...audit].reverse()) {
		const last = bands.at(-1);
		if (a.verb === "pause" && (!last || last.to !== undefined)) bands.push({ from: at(a.at), what: `paused by ${plain(a.actor || "somebody")}${a.reason ? ": " + plain(a.reason) : ""}` });
		else if (a.verb !== "pause" && last && last.to === undefined && /^(resume|terminate|retry|reset|skip|edit)$/.test(a.verb)) last.to = at(a.at);
	}
	for (const f of detail.freezes ?? []) {
		const paused = bands.find((b) => Math.abs(b.from - at(f.from)) < 1000);
		if (paused) paused.what += "; timers stood still";
		else bands.push({ from: at(f.from), to: f.until && at(f.until), what: "timers stood still" } as Band);
	}
	return bands;
}
