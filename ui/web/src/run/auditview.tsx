import { useState } from "preact/hooks";
import type { Audit } from "../api";
import { useAnswer } from "../answer";
import { call, problemOf } from "../client";
import { Empty } from "../parts/empty";
import { ProblemBox } from "../parts/problem";
import { type Column, Table } from "../parts/table";
import { Text } from "../parts/text";
import { Time } from "../parts/time";
import { useRefresh } from "./values";

const columns: Array<Column<Audit>> = [
	{ id: "verb", head: "What", kind: "first", cell: (a) => a.verb },
	{ id: "at", head: "When", cell: (a) => <Time at={a.at} /> },
	{ id: "actor", head: "Who", cell: (a) => a.actor && <Text max={80}>{a.actor}</Text> },
	{ id: "reason", head: "Why", kind: "wide", cell: (a) => a.reason && <Text max={400}>{a.reason}</Text> },
	{ id: "detail", head: "Detail", kind: "wide", cell: (a) => a.detail && <Text max={400}>{a.detail}</Text> },
];

// AuditView lists what operators have done to a run.
export function AuditView({ run, changed }: { run: string; changed: number }) {
	const first = useAnswer("GET /audit", { query: { run, limit: 50 } });
	useRefresh(first.again, changed);
	const [rest, setRest] = useState<Audit[]>([]);
	const [ended, end] = useState(false);
	const [problem, setProblem] = useState<unknown>();
	const rows = [...(first.answer ?? []), ...rest.filter((a) => !first.answer?.some((b) => b.number === a.number))];
	const more = async () => {
		try {
			const page = await call("GET /audit", { query: { run, limit: 50, before: rows.at(-1)!.number } });
			setRest([...rest, ...page]);
			end(page.length < 50);
		} catch (e) {
			setProblem(e);
		}
	};
	return (
		<>
			<ProblemBox problem={first.problem} again={first.again} />
			{problem !== undefined && <ProblemBox problem={problemOf(problem)} again={more} />}
			{first.answer && !rows.length ? <Empty title="No operator has changed the run." /> : <Table label="Audit of the run" columns={columns} rows={rows} keyOf={(a) => String(a.number)} busy={first.loading && !first.answer} more={!ended && rows.length >= 50 ? more : undefined} />}
		</>
	);
}
