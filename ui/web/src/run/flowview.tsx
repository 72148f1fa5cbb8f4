import { useState } from "preact/hooks";
import type { FlowNode } from "../api";
import { useAnswer } from "../answer";
import { Empty } from "../parts/empty";
import { Graph } from "../parts/graph";
import { ProblemBox } from "../parts/problem";
import { plain, Text } from "../parts/text";
import { Duration, Time } from "../parts/time";
import { useRefresh } from "./values";

const reasons: Record<string, string> = { condition_unmet: "its condition is not met", dependency_skipped: "what it comes after was skipped", handler_failed: "what it comes after has failed", change: "a change leaves it out" };

// FlowView draws the flow of a run, and where each of its nodes stands.
export function FlowView({ run, changed }: { run: string; changed: number }) {
	const flow = useAnswer("GET /runs/{run}/flow", { path: { run } });
	useRefresh(flow.again, changed);
	const [picked, pick] = useState<string>();
	const d = flow.answer;
	if (flow.problem?.type.endsWith("#not-found")) return <Empty title="The run is no flow that the store knows the shape of."><p>{plain(flow.problem.how ?? "")}</p></Empty>;
	const node = d?.nodes.find((n) => n.name === picked);
	return (
		<div class="flow" aria-busy={flow.loading && !d}>
			<ProblemBox problem={flow.problem} again={flow.again} />
			{d && <>
				{d.differs && <div class="hint">The program's own shape is another one by now: {d.differs.map((x) => plain(x)).join("; ")}</div>}
				<Graph label={`Flow ${plain(d.flow)}`} picked={picked} pick={pick} nodes={d.nodes.map((n) => ({ id: n.name, name: n.name, after: n.after, sub: sub(n), word: n.status, dashed: !!n.if?.length || n.unmet === "skip" }))} />
				{node && <NodeView n={node} />}
				{d.beside && <p class="hint">Steps that no node of the shape has: {d.beside.map((x) => plain(x)).join(", ")}</p>}
			</>}
		</div>
	);
}

const sub = (n: FlowNode) => [n.kind === "step" ? "" : n.kind, n.status, n.steps && n.kind === "map" ? `${n.steps} done` : ""].filter(Boolean).join(", ");

function NodeView({ n }: { n: FlowNode }) {
	return (
		<section class="details" aria-label="The chosen node">
			<header class="row"><h2><span class="kind">{n.kind}</span> <Text>{n.name}</Text></h2></header>
			<dl class="facts">
				{n.status && <div><dt>State</dt><dd>{n.status}{n.reason && `: ${reasons[n.reason] ?? n.reason}`}{n.undone && ", undone"}</dd></div>}
				{n.began_at && <div><dt>Began</dt><dd><Time at={n.began_at} /></dd></div>}
				{n.began_at && n.ended_at && <div><dt>Took</dt><dd><Duration from={n.began_at} to={n.ended_at} /></dd></div>}
				{!!n.steps && <div><dt>Steps done</dt><dd>{n.steps}</dd></div>}
				{n.after && <div><dt>Comes after</dt><dd>{n.quorum ? `${n.quorum} of ` : ""}{n.after.map((x) => plain(x)).join(", ")}</dd></div>}
				{n.if && <div><dt>If</dt><dd>{n.if.map((x) => plain(x)).join(" and ")}</dd></div>}
				{n.calls && <div><dt>Calls</dt><dd><Text>{n.calls}</Text></dd></div>}
				{n.error && <div class="long"><dt>Error</dt><dd><Text max={2000}>{n.error}</Text></dd></div>}
			</dl>
		</section>
	);
}
