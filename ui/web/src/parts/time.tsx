import { useEffect, useState } from "preact/hooks";
import { now } from "../client";

const units: Array<[string, number]> = [["d", 86_400_000], ["h", 3_600_000], ["m", 60_000], ["s", 1000]];

// span is a duration for people: its two largest units.
export function span(ms: number): string {
	if (ms < 0) return "-" + span(-ms);
	if (ms < 1000) return `${Math.round(ms)} ms`;
	if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
	for (let i = 0; i < units.length; i++) {
		const [name, size] = units[i]!;
		if (ms < size) continue;
		const next = units[i + 1];
		const rest = next ? Math.floor((ms % size) / next[1]) : 0;
		return `${Math.floor(ms / size)}${name}` + (rest ? ` ${rest}${next![0]}` : "");
	}
	return "0 s";
}

// ago is how far a time is from now, in its largest unit.
export function ago(at: number): string {
	const off = now() - at;
	const [name, size] = units.find(([, size]) => Math.abs(off) >= size) ?? ["s", 1000];
	const n = Math.floor(Math.abs(off) / size);
	if (n === 0) return "now";
	return off > 0 ? `${n}${name} ago` : `in ${n}${name}`;
}

const format = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

// absolute is a time by the browser's clock and zone, and in UTC.
export const absolute = (iso: string) => `${format.format(new Date(iso))} (${iso})`;

// All relative times of a page change together, and not while nobody looks.
const shown = new Set<() => void>();
let ticking: ReturnType<typeof setInterval> | undefined;

function useTick() {
	const [, set] = useState(0);
	useEffect(() => {
		const fn = () => set((n) => n + 1);
		shown.add(fn);
		ticking ??= setInterval(() => {
			if (!document.hidden) for (const f of shown) f();
		}, 5000);
		return () => {
			shown.delete(fn);
			if (shown.size === 0) {
				clearInterval(ticking);
				ticking = undefined;
			}
		};
	}, []);
}

// Time shows how long ago a time is; pointing at it shows the time itself.
export function Time({ at }: { at?: string }) {
	useTick();
	if (!at) return <span class="none">–</span>;
	return <time dateTime={at} title={absolute(at)}>{ago(Date.parse(at))}</time>;
}

// Duration shows how long something has taken, or takes until now.
export function Duration({ from, to }: { from?: string; to?: string }) {
	useTick();
	if (!from) return <span class="none">–</span>;
	const ms = (to ? Date.parse(to) : now()) - Date.parse(from);
	return <span class="duration" title={to ? undefined : "until now"}>{span(Math.max(0, ms))}{to ? "" : "…"}</span>;
}
