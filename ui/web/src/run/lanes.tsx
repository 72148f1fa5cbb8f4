import { useMemo, useRef, useState } from "preact/hooks";
import { line, many } from "../parts/text";
import type { Range } from "./axis";
import { type Item, type Lane, lanes } from "./model";
import { took } from "./moment";

const laneHeight = 20;
const shown = 28;
const wide = 2000; // units of a drawing's width: a bar is at least two of them

// Lanes draws what goes on at the same time side by side. All bars of a lane that look alike are
// one path, so fifty thousand of them are drawn as fast as one. The rows list the same for those
// who do not see it.
export function Lanes({ items, range, until, chosen, choose }: { items: Item[]; range: Range; until: number; chosen?: string; choose: (id: string) => void }) {
	const all = useMemo(() => lanes(items, until), [items, until]);
	const [top, setTop] = useState(0);
	const [told, tell] = useState<Item>();
	const box = useRef<HTMLDivElement>(null);
	const first = Math.max(0, Math.floor(top / laneHeight) - 2);
	const last = Math.min(all.length, first + shown + 5);
	const under = (e: MouseEvent) => {
		const r = box.current!.querySelector(".drawn")!.getBoundingClientRect();
		const lane = all[Math.floor((e.clientY - r.top) / laneHeight)];
		const ms = range[0] + ((e.clientX - r.left) / r.width) * (range[1] - range[0]);
		return lane && near(lane, ms, ((range[1] - range[0]) / r.width) * 4, until);
	};
	return (
		<>
			<p class="hint small told" aria-hidden="true"><bdi>{told ? `${told.kind} ${line(told.name, 120)}, ${told.state}, ${took((told.to ?? until) - told.from)}` : many(all.length, "lane")}</bdi></p>
			<div class="windowed lanes" ref={box} tabIndex={0} role="region" aria-label={`What went on at the same time, in ${many(all.length, "lane")}. The rows list the same.`} style={{ height: `${Math.min(all.length || 1, shown) * laneHeight + 2}px` }} onScroll={(e) => setTop(e.currentTarget.scrollTop)}
				onMouseMove={(e) => tell(under(e))} onMouseLeave={() => tell(undefined)} onClick={(e) => { const item = under(e); if (item) choose(item.id); }}>
				<div class="rows drawn" role="none" style={{ height: `${all.length * laneHeight}px` }}>
					{all.slice(first, last).map((lane, i) => <LaneView key={first + i} lane={lane} at={first + i} range={range} until={until} chosen={chosen} />)}
				</div>
			</div>
		</>
	);
}

// near is the item of a lane at a moment, or one that is hardly beside it.
function near(lane: Lane, ms: number, slack: number, until: number): Item | undefined {
	const l = lane.items;
	let a = 0;
	let b = l.length;
	while (a < b) {
		const m = (a + b) >> 1;
		if (l[m]!.from <= ms) a = m + 1;
		else b = m;
	}
	const before = l[a - 1];
	const after = l[a];
	if (before && ms <= (before.to ?? until) + slack) return before;
	return after && after.from - ms <= slack ? after : undefined;
}

function LaneView({ lane, at, range, until, chosen }: { lane: Lane; at: number; range: Range; until: number; chosen?: string }) {
	const paths = useMemo(() => draw(lane, range, until, chosen), [lane, range, until, chosen]);
	return (
		<svg class="lane" viewBox={`0 0 ${wide} ${laneHeight}`} preserveAspectRatio="none" style={{ top: `${at * laneHeight}px` }} aria-hidden="true">
			{[...paths].map(([look, d]) => <path key={look} class={look} d={d} />)}
		</svg>
	);
}

// draw makes a path for each look. Bars that are in the same place of the picture are one.
function draw(lane: Lane, [from, to]: Range, until: number, chosen?: string): Map<string, string> {
	const parts = new Map<string, string[]>();
	const ends = new Map<string, number>();
	const scale = wide / (to - from);
	for (const item of lane.items) {
		const end = item.to ?? until;
		if (end < from) continue;
		if (item.from > to) break;
		const look = item.id === chosen ? "chosen" : item.state === "failed" ? "failed" : item.state === "done" ? item.kind : item.state + " " + item.kind;
		const left = Math.max(0, (item.from - from) * scale);
		const right = Math.min(wide, Math.max((end - from) * scale - 1, left + 2));
		if (right <= (ends.get(look) ?? -1)) continue;
		ends.set(look, right);
		let list = parts.get(look);
		if (!list) parts.set(look, (list = []));
		list.push(`M${left.toFixed(1)} 3H${right.toFixed(1)}v14H${left.toFixed(1)}z`);
	}
	return new Map([...parts].map(([look, list]) => [look, list.join("")]));
}
