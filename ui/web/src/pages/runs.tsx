import { useCallback, useMemo, useState } from "preact/hooks";
import type { Run } from "../api";
import { splitOrder, withOrder } from "../filter";
import { useKeys } from "../keys";
import { useMay } from "../may";
import type { Page } from "../page";
import { Empty } from "../parts/empty";
import { FilterInput } from "../parts/filterinput";
import { Head } from "../parts/head";
import { ProblemBox } from "../parts/problem";
import { Table } from "../parts/table";
import { count, line, many } from "../parts/text";
import { go, to, usePlace } from "../router";
import { BulkDialog, bulkVerbs, chosenMax } from "../runs/bulk";
import { ColumnMenu, columnsOf } from "../runs/columns";
import { useKnown } from "../runs/known";
import { useRuns } from "../runs/pages";
import { StartDialog } from "../runs/start";
import { Views } from "../runs/views";

export const page: Page = { path: "runs", title: "Runs", key: "r", view: Runs };

const keyOf = (r: Run) => r.id;

function Runs() {
	const { query } = usePlace();
	const where = query.get("where") ?? "";
	const columns = columnsOf(query.get("columns"));
	const listed = useRuns(where);
	const { known, begin, served } = useKnown(listed.runs);
	const [dialog, setDialog] = useState<"start" | "chosen" | "all">();
	const [chosen, setChosen] = useState<{ of: string; keys: Set<string> }>({ of: where, keys: new Set() });
	const keys = useMemo(() => (chosen.of === where ? chosen.keys : new Set<string>()), [chosen, where]);
	const setKeys = useCallback((keys: Set<string>) => setChosen({ of: where, keys }), [where]);
	const show = (what: { where?: string; columns?: string }, how?: "replace") => go(to(["runs"], { where, columns: query.get("columns") ?? undefined, ...what }), how);
	const may = useMay();
	const starts = may("run start");
	const acts = bulkVerbs(may).length > 0;
	const { where: condition, order } = splitOrder(where);
	// A heading leads from the usual order, newest first, to its own two, and back.
	const sort = (by: string) => {
		const same = order?.by === by;
		if (same && order.ascending) show({ where: condition });
		else show({ where: withOrder(condition, { by, ascending: same || by === "created" }) });
	};
	useKeys("runs", {
		...(starts && { n: { does: "start a run", act: () => openStart() } }),
		...(acts && { b: { does: "do something to the chosen runs", act: () => keys.size > 0 && setDialog("chosen") } }),
	});
	const openStart = () => {
		begin();
		setDialog("start");
	};
	const refused = listed.problem?.status === 400 && /filter, column/.test(listed.problem.detail) ? listed.problem.detail : undefined;
	const { runs, counted } = listed;
	return (
		<>
			<Head title="Runs">
				{counted && <span class="count">{count(counted.runs, counted.capped)}</span>}
				<ColumnMenu shown={columns} labels={known("label.")} set={(columns) => show({ columns }, "replace")} />
				{starts && <button type="button" onClick={openStart}>Start a run</button>}
			</Head>
			<FilterInput value={where} find={(text) => show({ where: text })} known={known} begin={begin} wrong={refused} />
			{!refused && <ProblemBox problem={listed.problem} again={listed.again} />}
			{listed.moreProblem && <ProblemBox problem={listed.moreProblem} again={listed.more} />}
			{keys.size > 0 ? <BulkBar chosen={keys} clear={() => setKeys(new Set())} open={() => setDialog("chosen")} /> : (
				<Views where={where} columns={query.get("columns") ?? undefined}>
					{acts && where && counted && counted.runs > 0 && <button type="button" class="quiet" onClick={() => setDialog("all")}>Do something to all {count(counted.runs, counted.capped)}…</button>}
				</Views>
			)}
			{!refused && (runs.length === 0 && !listed.loading && !listed.problem ? (
				<Empty title={where ? "No run is like this." : "There are no runs yet."}>{where && <p><a href={to(["runs"])}>All runs</a></p>}</Empty>
			) : (
				<Table label="Runs" columns={columns} rows={runs} keyOf={keyOf} busy={listed.loading} more={listed.more}
					sorted={{ by: order?.by ?? "created", ascending: order?.ascending, set: sort }}
					chosen={!acts ? undefined : { keys, set: setKeys, noun: (key) => `run ${line(runs.find((r) => r.id === key)?.key ?? key, 60)}` }} />
			))}
			{dialog === "start" && <StartDialog known={known} served={served} close={() => setDialog(undefined)} />}
			{dialog === "chosen" && <BulkDialog where={`id in (${[...keys].join(", ")})`} close={() => setDialog(undefined)} started={() => setKeys(new Set())} />}
			{dialog === "all" && <BulkDialog where={where} close={() => setDialog(undefined)} />}
		</>
	);
}

// BulkBar leads to what can be done to the runs that are chosen.
function BulkBar({ chosen, clear, open }: { chosen: Set<string>; clear: () => void; open: () => void }) {
	return (
		<div class="bar bulk" role="status">
			<strong>{many(chosen.size, "run")} chosen</strong>
			{chosen.size <= chosenMax ? <button type="button" class="primary" onClick={open}>Do something to them…</button> : <span class="wrong">At most {chosenMax} can be named; a filter selects any number.</span>}
			<button type="button" class="quiet" onClick={clear}>Choose none</button>
		</div>
	);
}
