import type { ComponentChildren } from "preact";
import type { Detail, Run } from "../api";
import { RunLink } from "../parts/link";
import { Copy } from "../parts/payload";
import { plain, Text } from "../parts/text";
import { Duration, Time } from "../parts/time";
import { to } from "../router";

const format = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false });

// Moment is a time of the clock, and how long ago that was.
export function Moment({ at }: { at: string }) {
	return <span class="moment">{format.format(new Date(at))} <span class="soft">(<Time at={at} />)</span></span>;
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
	return <div><dt>{name}</dt><dd>{children}</dd></div>;
}

// Facts is what a run is.
export function Facts({ run, detail, labels }: { run: Run; detail: Detail; labels?: () => void }) {
	const attempts = (detail.steps ?? []).reduce((n, s) => n + s.attempts, 0);
	return (
		<dl class="facts head">
			<Fact name="Workflow"><a href={to(["workflows", run.workflow])}><Text max={60}>{run.workflow}</Text></a> <span class="soft">version {run.version}</span></Fact>
			<Fact name="Queue"><Text max={60}>{run.queue}</Text> <span class="soft">priority {run.priority}</span></Fact>
			{run.node !== undefined && <Fact name="Node"><a href={to(["nodes"])}>{run.node}</a></Fact>}
			{run.parent && <Fact name="Parent"><RunLink run={{ id: run.parent }} /></Fact>}
			<Fact name="Started"><Moment at={run.created_at} /></Fact>
			{run.start_at !== run.created_at && Date.parse(run.start_at) - Date.parse(run.created_at) > 1000 && <Fact name="Not before"><Moment at={run.start_at} /></Fact>}
			{run.closed_at && <Fact name="Ended"><Moment at={run.closed_at} /></Fact>}
			<Fact name={run.closed_at ? "Took" : "Open for"}><Duration from={run.start_at} to={run.closed_at} /></Fact>
			{run.deadline_at && <Fact name="Time is up"><Moment at={run.deadline_at} /></Fact>}
			{run.visible_at && <Fact name="Looked at next"><Moment at={run.visible_at} /></Fact>}
			{attempts > 0 && <Fact name="Failed attempts">{attempts}</Fact>}
			<Fact name="Events">{detail.events.toLocaleString("en-US")}{run.generation > 1 && <span class="soft"> in generation {run.generation}</span>}</Fact>
			{detail.unread > 0 && <Fact name="Messages waiting">{detail.unread.toLocaleString("en-US")}</Fact>}
			<div class="ident"><dt>Id</dt><dd><code class="id">{run.id}</code> <Copy text={run.id} name="id" /></dd></div>
			{run.key && <div class={run.key.length > 30 ? "long" : undefined}><dt>Key</dt><dd><bdi>{plain(run.key)}</bdi> <Copy text={run.key} name="key" /></dd></div>}
			<div class="labels"><dt>Labels</dt><dd class="row labels">
				{Object.entries(run.labels ?? {}).map(([name, value]) => <span class="label" key={name}><Text max={64}>{name}</Text> <strong><Text max={255}>{value}</Text></strong></span>)}
				{!Object.keys(run.labels ?? {}).length && <span class="soft">none</span>}
				{labels && <button type="button" class="quiet" onClick={labels}>Change labels</button>}
			</dd></div>
		</dl>
	);
}
