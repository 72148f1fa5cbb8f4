import { useMemo } from "preact/hooks";
import type { Node } from "../api";
import { useAnswer } from "../answer";
import { call } from "../client";
import { useFresh } from "../fresh";
import type { Page } from "../page";
import { Act, useAsk } from "../parts/act";
import { Badge } from "../parts/badge";
import { Empty } from "../parts/empty";
import { Head } from "../parts/head";
import { Found } from "../parts/link";
import { ProblemBox } from "../parts/problem";
import { type Column, Table } from "../parts/table";
import { count, many, Text } from "../parts/text";
import { span, Time } from "../parts/time";
import { toast } from "../parts/toast";

export const page: Page = { path: "nodes", title: "Nodes", key: "n", view: Nodes };

function Nodes() {
	const nodes = useAnswer("GET /nodes", {});
	useFresh(["nodes"], nodes.again, { limit: 1 });
	const [ask, asked] = useAsk();
	const columns = useMemo((): Array<Column<Node>> => [
		{ id: "name", head: "Node", kind: "first", cell: (n) => <Text max={60}>{n.name}</Text> },
		{ id: "id", head: "Number", kind: "number", cell: (n) => <Found where={`node = ${n.id}`}>{n.id}</Found> },
		{ id: "state", head: "State", cell: (n) => <Badge word={n.draining ? "leaving" : "live"} /> },
		{ id: "since", head: "Joined", cell: (n) => <Time at={n.started_at} /> },
		{ id: "lease", head: "Lease", kind: "number", cell: (n) => span(n.lease_seconds * 1000) },
		{ id: "serves", head: "Serves", kind: "wide", cell: (n) => <Serves node={n} /> },
		{ id: "do", head: "Actions", cell: (n) => !n.draining && <Act verb="node drain" quiet label={`Drain ${n.name}`} act={() => ask({
			title: `Drain node ${n.name}?`, verb: "Drain", danger: true,
			children: <p>It hands back its runs, which other nodes take, and leaves. Its process ends as its program says.</p>,
			act: async (reason) => {
				// By its number: two nodes may have one name.
				await call("POST /nodes/{node}/drain", { path: { node: String(n.id) }, body: { reason } });
				toast(<>Node <Text max={60}>{n.name}</Text> has left.</>);
				nodes.again();
			},
		})}>Drain</Act> },
	], []);
	const versions = (nodes.answer ?? []).flatMap((n) => n.routes.map((r) => r.workflow + "\n" + r.version));
	return (
		<>
			<Head title="Nodes">{nodes.answer && <span class="count">{many(nodes.answer.length, "node")}, {many(new Set(versions).size, "version")}</span>}</Head>
			<ProblemBox problem={nodes.problem} again={nodes.again} />
			{nodes.answer?.length === 0 ? <Empty title="No node is live."><p>Nothing is executed until one joins. Runs, signals and timers are kept.</p></Empty> : <Table label="Nodes" columns={columns} rows={nodes.answer ?? []} keyOf={(n) => String(n.id)} busy={nodes.loading && !nodes.answer} />}
			{asked}
		</>
	);
}

// shownMax is how many routes a row has before one opens the rest.
const shownMax = 4;

function Serves({ node }: { node: Node }) {
	const list = node.routes.map((r) => <li key={`${r.queue}\n${r.workflow}\n${r.version}`}><Text max={60}>{r.workflow}</Text> v{r.version}{r.queue !== "default" && <span class="hint"> in <Text max={40}>{r.queue}</Text></span>}</li>);
	if (list.length <= shownMax) return <ul class="plain">{list}</ul>;
	return <details><summary>{count(list.length)} workflows</summary><ul class="plain">{list}</ul></details>;
}
