import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

// A browser cannot lay out an element that is higher than some millions of pixels.
const heightMax = 8_000_000;

// Windowed is a list of which only the rows in sight exist: those of a history of 50,000 events are
// as cheap as forty. The keys of a list move through all of it. Its rows are those of a tree or of
// a listbox: role says which.
export function Windowed({ role, label, count, height, shown = 24, at, to, row, busy, open, enter, children }: {
	role: "tree" | "listbox";
	label: string;
	count: number;
	height: number; // of a row
	shown?: number; // rows that have room
	at: number; // the row that is chosen; -1 for none
	to: (row: number) => void; // chooses another one
	row: (i: number, attributes: { id: string; role: string; "aria-selected": boolean; "aria-setsize": number; "aria-posinset": number; style: { top: string } }) => ComponentChildren;
	busy?: boolean;
	open?: (row: number, on: boolean) => void; // the keys to the right and the left
	enter?: () => void;
	children?: ComponentChildren; // behind the rows
}) {
	const ref = useRef<HTMLDivElement>(null);
	const [top, setTop] = useState(0);
	const id = useRef("w" + Math.random().toString(36).slice(2)).current;
	const total = Math.min(count * height, heightMax);
	const size = Math.min(Math.max(count, 1), shown) * height;
	// Where rows do not all have room in the highest element, they stand closer to where one is.
	const scale = count * height > total && total > size ? (count * height - size) / (total - size) : 1;
	const first = Math.max(0, Math.floor((top * scale) / height) - 4);
	const last = Math.min(count, first + shown + 9);
	const into = (i: number) => {
		const d = ref.current;
		if (!d || i < 0) return;
		const y = i * height;
		const from = d.scrollTop * scale;
		if (y < from) d.scrollTop = y / scale;
		else if (y + height > from + d.clientHeight) d.scrollTop = (y + height - d.clientHeight) / scale;
	};
	useLayoutEffect(() => into(at), [at]);
	useEffect(() => {
		if (ref.current) setTop(ref.current.scrollTop); // which the browser changes when rows go
	}, [count]);
	const keys = (e: KeyboardEvent) => {
		if (e.ctrlKey || e.metaKey || e.altKey || !count) return;
		const page = Math.max(1, Math.floor((ref.current!.clientHeight || size) / height) - 1);
		const step: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at < 0 ? count - 1 : at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: count - 1 };
		const i = step[e.key];
		if (i !== undefined) to(Math.max(0, Math.min(count - 1, i)));
		else if (open && at >= 0 && (e.key === "ArrowRight" || e.key === "ArrowLeft")) open(at, e.key === "ArrowRight");
		else if (enter && e.key === "Enter") enter();
		else return;
		e.preventDefault();
	};
	const rows: ComponentChildren[] = [];
	for (let i = first; i < last; i++) {
		rows.push(row(i, { id: id + i, role: role === "tree" ? "treeitem" : "option", "aria-selected": i === at, "aria-setsize": count, "aria-posinset": i + 1, style: { top: `${i * height - top * (scale - 1)}px` } }));
	}
	return (
		<div ref={ref} class="windowed" role={role} aria-label={label} aria-busy={busy} tabIndex={0} aria-activedescendant={at >= first && at < last ? id + at : undefined} style={{ height: `${size + 2}px` }} onScroll={(e) => setTop(e.currentTarget.scrollTop)} onKeyDown={keys} data-count={count}>
			<div role="none" class="rows" style={{ height: `${total}px` }}>{rows}</div>
			{children}
		</div>
	);
}
