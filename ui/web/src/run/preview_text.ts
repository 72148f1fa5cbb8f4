import type { Event, Payload } from "../api";
import { Exact } from "../client";

// brief is the beginning of a value as text. It looks at no more of the value than it shows: a list
// has many rows, and a payload may have megabytes.
export function brief(payload: Payload | undefined, max: number): string {
	if (!payload) return "";
	if (payload.failure) return cut(`${payload.failure.type ? payload.failure.type + ": " : ""}${payload.failure.message}`, max);
	if (payload.bytes !== undefined) return `${Math.floor((payload.bytes.length * 3) / 4).toLocaleString("en-US")} bytes${payload.encoding ? " of " + payload.encoding : ""}`;
	return cut(compact(payload.value, max + 1), max);
}

// briefOf is that of what an event carries.
export const briefOf = (e: Event, max: number) => (e.left_out ? "a larger value" : brief(e.payload, max));

const cut = (text: string, max: number) => (text.length > max ? text.slice(0, max).replace(/[\ud800-\udbff]$/, "") + "…" : text);

// compact writes JSON until it is long enough.
function compact(v: unknown, room: number): string {
	if (typeof v === "string") return JSON.stringify(v.length > room ? v.slice(0, room) : v);
	if (v instanceof Exact) return v.text;
	if (v === null || typeof v !== "object") return String(v);
	const list = Array.isArray(v);
	let text = list ? "[" : "{";
	let first = true;
	for (const k in v as object) {
		if (!first) text += ", ";
		first = false;
		if (text.length > room) break;
		if (!list) text += JSON.stringify(k.length > room ? k.slice(0, room) : k) + ": ";
		text += compact((v as Record<string, unknown>)[k], Math.max(0, room - text.length));
	}
	return text + (list ? "]" : "}");
}
