import type { Slot } from "../api";
import { type Column, Table } from "./table";
import { Text } from "./text";
import { Time } from "./time";

const columns: Array<Column<Slot>> = [
	{ id: "local", head: "By its clock", kind: "first", cell: (s) => <span class={s.omitted ? "struck" : undefined}>{s.local}</span> },
	{ id: "at", head: "Comes", cell: (s) => <Time at={s.at} /> },
	{ id: "note", head: "Daylight saving", kind: "wide", cell: (s) => (s.note || s.omitted) && <>{s.omitted && <strong class="bad">does not run. </strong>}<Text max={300}>{s.note ?? ""}</Text></> },
];

// Slots lists times that come, and what daylight saving does to them, in words.
export function Slots({ list, label = "Next times" }: { list: Slot[]; label?: string }) {
	return <Table label={label} columns={columns} rows={list} keyOf={(s) => s.at + s.local} />;
}
