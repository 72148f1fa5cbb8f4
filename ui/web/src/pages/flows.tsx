import { useState } from "preact/hooks";
import type { Drawing, FlowNode, Shape } from "../api";
import { useAnswer } from "../answer";
import { useFresh } from "../fresh";
import type { Page } from "../page";
import { Empty } from "../parts/empty";
import { Facts, Part } from "../parts/facts";
import { Graph } from "../parts/graph";
import { Head } from "../parts/head";
import { Found, quote } from "../parts/link";
import { Written } from "../parts/payload";
import { ProblemBox } from "../parts/problem";
import { type Column, Table } from "../parts/table";
import { many, Text } from "../parts/text";
import { Time } from "../parts/time";
import { to } from "../router";

export const page: Page = { path: "flows", title: "Flows", key: "d", view: Flows };
export const one: Page = { path: "flows/:flow", title: "Flow", view: Flow };

const shapes: Array<Column<Shape>> = [
	{ id: "flow", head: "Flow", kind: "first", cell: (s) => <a href={to(["flows", s.shape])}><Text max={80}>{s.flow}</Text></a> },
	{ id: "shape", head: "Shape", cell: (s) => <span class="id">{s.shape.slice(0, 12)}</span> },
	{ id: "at", head: "Stored", cell: (s) => <Time at={s.stored_at} /> },
	{ id: "runs", head: "Runs", cell: (s) => <Found where={`workflow = ${quote(s.flow)}`}>of this flow</Found> },
];

function Flows() {
	const list = useAnswer("GET /flows", {});
	useFresh(["runs"], list.again, { where: 'workflow starts with "reprise.flow."' });
	return (
		<>
			<Head title="Flows">{list.answer && <span class="count">{many(list.answer.length, "shape")}</span>}</Head>
			<ProblemBox problem={list.problem} again={list.again} />
			{list.answer?.length === 0 ? <Empty title="No shape of a flow is stored."><p>A program stores it when it starts a run of a flow with <code>flows.Start</code>.</p></Empty> : (
				<Table label="Flows" columns={shapes} rows={list.answer ?? []} keyOf={(s) => s.shape} busy={list.loading && !list.answer} />
			)}
		</>
	);
}

function Flow({ params }: { params: Record<string, string> }) {
	const [as, setAs] = useState("");
	const drawing = useAnswer("GET /flows/{flow}", { path: { flow: params.flow! }, query: { as } });
	const d = drawing.answer;
	return (
		<>
			<Head title={<>Flow {d && <Text max={80}>{d.flow}</Text>}</>}>
				{d && <Found where={`workflow = ${quote(d.flow)}`}>Its runs</Found>}
			</Head>
			<ProblemBox problem={drawing.problem} again={drawing.again} />
			{d && (
				<>
					<Facts of={[["Shape", <span class="id">{d.shape}</span>], ["The program's own differs", d.differs && <ul class="plain">{d.differs.map((t) => <li key={t}><Text>{t}</Text></li>)}</ul>]]} />
					<Drawn drawing={d} />
					<Part title="As text" aside={<label class="small">Language <select value={as} onChange={(e) => setAs(e.currentTarget.value)}><option value="">none</option><option value="mermaid">Mermaid</option><option value="dot">Graphviz</option></select></label>}>
						{d.picture ? <Written text={d.picture} name="picture as text" /> : <p class="hint">For a comment, or another program that draws.</p>}
					</Part>
				</>
			)}
		</>
	);
}

// Drawn is the picture of a flow, or of a run of one, with its nodes as a table.
export function Drawn({ drawing }: { drawing: Drawing }) {
	const [picked, pick] = useState<string>();
	const inRun = drawing.run !== undefined;
	const columns = inRun ? [...nodes.slice(0, 2), ...ofRun, ...nodes.slice(2)] : nodes;
	return (
		<>
			<Graph label={`Picture of flow ${drawing.flow}`} picked={picked} pick={(id) => pick(id === picked ? undefined : id)}
				nodes={drawing.nodes.map((n) => ({ id: n.name, name: n.name, after: n.after, sub: under(n), word: n.status, dashed: !!n.if?.length || !!n.until }))} />
			<Table label={`Nodes of flow ${drawing.flow}`} columns={columns} rows={drawing.nodes} keyOf={(n) => n.name} marked={(n) => n.name === picked} />
			{drawing.beside?.length ? <p class="hint">Steps that no node of the shape has: {drawing.beside.map((s, i) => <>{i > 0 && ", "}<Text max={80}>{s}</Text></>)}</p> : null}
			{drawing.nodes.filter((n) => n.nested).map((n) => <Part key={n.name} title={`The flow in ${n.name}`}><Drawn drawing={n.nested!} /></Part>)}
		</>
	);
}

// under is the second line of a node's box: what it does, unless it is a step.
const under = (n: FlowNode) => [n.kind !== "step" && n.kind, n.calls, n.status === "running" && n.kind === "map" && many(n.steps ?? 0, "step")].filter(Boolean).join(" · ");

const nodes: Array<Column<FlowNode>> = [
	{ id: "name", head: "Node", kind: "first", cell: (n) => <Text max={80}>{n.name}</Text> },
	{ id: "kind", head: "Kind", cell: (n) => <>{n.kind}{n.calls && <span class="hint"> <Text max={60}>{n.calls}</Text></span>}</> },
	{ id: "after", head: "After", cell: (n) => n.after && <Text max={120}>{n.after.join(", ")}</Text> },
	{ id: "how", head: "Conditions", kind: "wide", cell: (n) => how(n) && <Text max={300}>{how(n)}</Text> },
];

function how(n: FlowNode): string {
	return [
		n.quorum && `awaits ${n.quorum} of them`,
		n.if?.length && `if ${n.if.join(" and ")}${n.unmet ? `, else ${n.unmet}` : ""}`,
		n.exhausted && `if it fails: ${n.exhausted}`,
		n.undo && "can be undone",
		n.since && `since ${n.since}`,
		n.until && `until ${n.until}`,
	].filter(Boolean).join("; ");
}

const ofRun: Array<Column<FlowNode>> = [
	{ id: "status", head: "State", cell: (n) => <span data-word={n.status}>{n.status}{n.reason && <span class="hint"> {n.reason}</span>}{n.undone && <span class="hint"> undone</span>}</span> },
	{ id: "began", head: "Began", cell: (n) => <Time at={n.began_at} /> },
	{ id: "ended", head: "Ended", cell: (n) => <Time at={n.ended_at} /> },
	{ id: "error", head: "Error", kind: "wide", cell: (n) => n.error && <Text max={300}>{n.error}</Text> },
];
