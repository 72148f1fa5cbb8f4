import { useMemo, useRef } from "preact/hooks";
import type { Item } from "./model";
import { distance, iso, ticks } from "./moment";

// Range is the part of the time that is in the picture.
export type Range = [from: number, to: number];

// The least that a picture has, in milliseconds: times have microseconds.
const widthMin = 0.02;

// zoomed is a range that is so many times as wide, with a moment staying where it is. Undefined is
// all.
export function zoomed(range: Range, all: Range, by: number, around = (range[0] + range[1]) / 2): Range | undefined {
	const width = Math.max(widthMin, (range[1] - range[0]) * by);
	if (width >= all[1] - all[0]) return undefined;
	const part = (around - range[0]) / (range[1] - range[0]);
	const from = Math.max(all[0], Math.min(all[1] - width, around - part * width));
	return [from, from + width];
}

// moment is the time below a pointer.
function moment(e: PointerEvent | WheelEvent, box: Element, [from, to]: Range) {
	const r = box.getBoundingClientRect();
	return from + Math.max(0, Math.min(1, (e.clientX - r.left) / r.width)) * (to - from);
}

// useDrag chooses a range with a pointer.
function useDrag(range: Range, set: (r: Range | undefined) => void) {
	const began = useRef<number | undefined>(undefined);
	const box = useRef<HTMLDivElement>(null);
	const brush = useRef<HTMLSpanElement>(null);
	const ends = (e: PointerEvent): Range => {
		const now = moment(e, box.current!, range);
		return [Math.min(began.current!, now), Math.max(began.current!, now)];
	};
	return {
		ref: box,
		brush,
		onPointerDown: (e: PointerEvent) => {
			if (e.button !== 0) return;
			began.current = moment(e, box.current!, range);
			box.current!.setPointerCapture(e.pointerId);
		},
		onPointerMove: (e: PointerEvent) => {
			if (began.current === undefined || !brush.current) return;
			const [a, b] = ends(e);
			brush.current.style.left = `${((a - range[0]) / (range[1] - range[0])) * 100}%`;
			brush.current.style.width = `${((b - a) / (range[1] - range[0])) * 100}%`;
			brush.current.hidden = false;
		},
		onPointerUp: (e: PointerEvent) => {
			if (began.current === undefined) return;
			const [a, b] = ends(e);
			began.current = undefined;
			if (brush.current) brush.current.hidden = true;
			if ((b - a) / (range[1] - range[0]) > 0.005) set([a, Math.max(b, a + widthMin)]);
		},
		onPointerCancel: () => {
			began.current = undefined;
			if (brush.current) brush.current.hidden = true;
		},
	};
}

// Axis has the times of the picture. Dragging over it chooses a part; a wheel with Ctrl zooms.
export function Axis({ range, from, zoom, set }: { range: Range; from: number; zoom: (by: number, around: number) => void; set: (r: Range | undefined) => void }) {
	const { brush, ...drag } = useDrag(range, set);
	const marks = ticks(range[0] - from, range[1] - from, 8);
	const wheel = (e: WheelEvent) => {
		if (!e.ctrlKey) return;
		e.preventDefault();
		zoom(e.deltaY < 0 ? 0.8 : 1.25, moment(e, e.currentTarget as Element, range));
	};
	return (
		<div class="axis" aria-hidden="true" title={`${iso(range[0])} to ${iso(range[1])}. Drag to zoom.`}>
			<div class="scale" {...drag} onWheel={wheel}>
				{marks.map((m) => <span key={m} class="tick" style={{ left: `${((m + from - range[0]) / (range[1] - range[0])) * 100}%` }}>{distance(m)}</span>)}
				<span class="brush" ref={brush} hidden />
			</div>
		</div>
	);
}

const bins = 480;

// Strip shows all of the time, with how much went on at once and where something failed, and which
// part of it is in the picture.
export function Strip({ items, all, range, until, set }: { items: Item[]; all: Range; range?: Range; until: number; set: (r: Range | undefined) => void }) {
	const { brush, ...drag } = useDrag(all, set);
	const { outline, failures } = useMemo(() => density(items, all, until), [items, all, until]);
	return (
		<div class="strip" aria-hidden="true" title="Drag to zoom" {...drag}>
			<svg viewBox={`0 0 ${bins} 32`} preserveAspectRatio="none">
				<path class="much" d={outline} />
				<path class="failures" d={failures} />
			</svg>
			{range && <span class="seen" style={{ left: `${((range[0] - all[0]) / (all[1] - all[0])) * 100}%`, width: `${((range[1] - range[0]) / (all[1] - all[0])) * 100}%` }} />}
			<span class="brush" ref={brush} hidden />
		</div>
	);
}

// density is an outline of how many items go on, and marks of what failed.
function density(items: Item[], [from, to]: Range, until: number): { outline: string; failures: string } {
	const change = new Float64Array(bins + 1);
	const failed = new Uint8Array(bins);
	const bin = (ms: number) => Math.max(0, Math.min(bins - 1, Math.floor(((ms - from) / (to - from)) * bins)));
	for (const item of items) {
		if (item.kind === "state" || item.kind === "wait") continue;
		const end = bin(item.to ?? until);
		const begin = bin(item.from);
		change[begin]!++;
		change[Math.max(end, begin + 1)]!--;
		if (item.state === "failed") failed[end] = 1;
	}
	let most = 1;
	for (let i = 0, n = 0; i < bins; i++) most = Math.max(most, (n += change[i]!));
	const outline = ["M0 32"];
	let failures = "";
	for (let i = 0, n = 0; i < bins; i++) {
		n += change[i]!;
		// A root, so that few things at once are still seen beside many.
		const y = n > 0 ? 30 - 26 * Math.sqrt(n / most) : 32;
		outline.push(`L${i} ${y.toFixed(1)}H${i + 1}`);
		if (failed[i]) failures += `M${i} 0v5h2v-5z`;
	}
	return { outline: outline.join("") + `V32Z`, failures };
}
