import { Component, type ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { useKeys } from "../keys";

// Column is a column of a table. On narrow screens a row is a card, and head stands before its cell.
export interface Column<R> {
	id: string;
	head: string;
	cell: (r: R) => ComponentChildren;
	// kind says how it is set: numbers to the right, "wide" takes the room that is left, "first" is
	// the headline of a card.
	kind?: "number" | "wide" | "first";
	// order is by what rows can be ordered here, see Sorted.
	order?: string;
}

// Sorted is the order of the rows, and how to choose another one.
export interface Sorted {
	by?: string;
	ascending?: boolean;
	set: (by: string) => void;
}

// Chosen are rows that are chosen, by their keys.
export interface Chosen {
	keys: Set<string>;
	set: (keys: Set<string>) => void;
	// noun is what a row is, for those who hear the page.
	noun: (key: string) => string;
}

// Table shows rows. The keys j and k lead from one row's first link to the next, x chooses a row.
export function Table<R>({ label, columns, rows, keyOf, chosen, sorted, busy, more, marked }: {
	label: string;
	columns: Array<Column<R>>;
	rows: R[];
	keyOf: (r: R) => string;
	chosen?: Chosen;
	sorted?: Sorted;
	busy?: boolean;
	// more gets the next page; absent on the last one.
	more?: () => void;
	marked?: (r: R) => boolean;
}) {
	const ref = useRef<HTMLTableElement>(null);
	useKeys("table", {
		j: { does: "next row", act: () => step(ref.current, 1) },
		k: { does: "previous row", act: () => step(ref.current, -1) },
		...(chosen && { x: { does: "choose the row", act: () => (document.activeElement?.closest("tr")?.querySelector("input[type=checkbox]") as HTMLElement | null)?.click() } }),
	});
	const all = chosen && rows.length > 0 && rows.every((r) => chosen.keys.has(keyOf(r)));
	const now = useRef(chosen);
	now.current = chosen;
	const toggle = (key: string, on: boolean) => {
		const keys = new Set(now.current!.keys); // a row that is not drawn anew has an earlier function
		if (on) keys.add(key);
		else keys.delete(key);
		now.current!.set(keys);
	};
	return (
		<div class="table" aria-busy={busy}>
			<table ref={ref} role="table" aria-label={label}>
				<thead role="rowgroup">
					<tr role="row">
						{chosen && <th role="columnheader" class="choose"><input type="checkbox" aria-label="Choose all rows" checked={all} onChange={(e) => chosen.set(new Set(e.currentTarget.checked ? rows.map(keyOf) : []))} /></th>}
						{columns.map((c) => <Head key={c.id} column={c} sorted={sorted} />)}
					</tr>
				</thead>
				<tbody role="rowgroup">
					{rows.map((r) => {
						const key = keyOf(r);
						return <Row key={key} id={key} row={r} columns={columns} on={chosen?.keys.has(key)} noun={chosen?.noun} toggle={chosen && toggle} marked={marked?.(r)} />;
					})}
				</tbody>
			</table>
			{more && <p class="more"><button type="button" onClick={more} disabled={busy}>More</button></p>}
		</div>
	);
}

function Head<R>({ column: c, sorted }: { column: Column<R>; sorted?: Sorted }) {
	const by = c.order !== undefined && sorted?.by === c.order;
	const direction = by ? (sorted!.ascending ? "ascending" : "descending") : undefined;
	return (
		<th role="columnheader" scope="col" class={c.kind} aria-sort={direction}>
			{c.order && sorted ? <button type="button" class="sort" onClick={() => sorted.set(c.order!)}>{c.head}<span aria-hidden="true">{by ? (sorted.ascending ? " ↑" : " ↓") : ""}</span></button> : c.head}
		</th>
	);
}

interface RowProps<R> {
	id: string;
	row: R;
	columns: Array<Column<R>>;
	on?: boolean;
	noun?: (key: string) => string;
	toggle?: (key: string, on: boolean) => void;
	marked?: boolean;
}

// Row is drawn anew only when what it shows has changed: of a thousand rows that are asked for
// again, one or two are other ones.
class Row<R> extends Component<RowProps<R>> {
	override shouldComponentUpdate(next: RowProps<R>) {
		const p = this.props;
		return p.row !== next.row || p.columns !== next.columns || p.on !== next.on || p.marked !== next.marked || !p.toggle !== !next.toggle;
	}
	override render({ id, row, columns, on, noun, marked }: RowProps<R>) {
		return (
			<tr role="row" data-key={id} aria-selected={on} class={marked ? "marked" : undefined}>
				{noun && <td role="cell" class="choose"><input type="checkbox" aria-label={`Choose ${noun(id)}`} checked={on} onChange={(e) => this.props.toggle?.(id, e.currentTarget.checked)} /></td>}
				{columns.map((c) => <td key={c.id} role="cell" class={c.kind} data-head={c.head}><div>{c.cell(row)}</div></td>)}
			</tr>
		);
	}
}

// step moves the focus to the first link of another row.
function step(table: HTMLTableElement | null, by: number) {
	const rows = [...(table?.tBodies[0]?.rows ?? [])];
	const at = rows.findIndex((r) => r.contains(document.activeElement));
	const row = rows[at < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, at + by))];
	(row?.querySelector("a[href], button, input") as HTMLElement | null)?.focus();
	row?.scrollIntoView({ block: "nearest" });
}
