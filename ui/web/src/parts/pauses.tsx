import type { Pause } from "../api";
import { call } from "../client";
import { Act, Choice, type Question } from "./act";
import { count, Text } from "./text";
import { Time } from "./time";
import { toast } from "./toast";

// Scope is what a pause is about: a queue, a workflow, a version of it, or a workflow in a queue.
export type Scope = Pick<Pause, "queue" | "workflow" | "version">;

// Named names a scope.
export function Named({ scope: s }: { scope: Scope }) {
	return (
		<>
			{s.workflow ? <>workflow <Text max={60}>{s.workflow}</Text>{s.version ? ` v${s.version}` : ""}{s.queue && <> in queue <Text max={60}>{s.queue}</Text></>}</> : <>queue <Text max={60}>{s.queue ?? ""}</Text></>}
		</>
	);
}

const inText = (s: Scope) => (s.workflow ? `workflow ${s.workflow}${s.version ? ` v${s.version}` : ""}${s.queue ? ` in queue ${s.queue}` : ""}` : `queue ${s.queue}`);

// A workflow in a queue can be named by either; a version only by its workflow.
async function send(s: Scope, verb: "pause" | "resume", body: { reason: string; cancel_steps?: boolean }) {
	if (s.workflow) {
		const o = { path: { workflow: s.workflow }, body: { ...body, version: s.version, queue: s.queue } };
		await (verb === "pause" ? call("POST /workflows/{workflow}/pause", o) : call("POST /workflows/{workflow}/resume", o));
	} else {
		const o = { path: { queue: s.queue! }, body };
		await (verb === "pause" ? call("POST /queues/{queue}/pause", o) : call("POST /queues/{queue}/resume", o));
	}
}

// pausing asks whether a scope is to be paused.
export function pausing(scope: Scope, done: () => void): Question {
	let cancel_steps = false;
	return {
		title: `Pause ${inText(scope)}?`, verb: "Pause",
		children: (
			<>
				<p>No step of its runs starts until it is resumed. New runs, signals and timers are kept. The answer is there when all nodes have heeded it.</p>
				<Choice label="Interrupt steps that are executed" hint="They start anew at the resume." set={(on) => (cancel_steps = on)} />
			</>
		),
		act: async (reason) => {
			await send(scope, "pause", { reason, cancel_steps });
			toast(<>Paused <Named scope={scope} />.</>);
			done();
		},
	};
}

// resuming asks whether a scope is to go on.
export function resuming(scope: Scope, done: () => void): Question {
	return {
		title: `Resume ${inText(scope)}?`, verb: "Resume",
		children: <p>Its runs go on as nodes have room.</p>,
		act: async (reason) => {
			await send(scope, "resume", { reason });
			toast(<>Resumed <Named scope={scope} />.</>);
			done();
		},
	};
}

// Pauses lists what is paused: nothing if nothing is.
export function Pauses({ list, ask, done }: { list?: Pause[]; ask: (q: Question) => void; done: () => void }) {
	if (!list?.length) return null;
	return (
		<ul class="notices" aria-label="What is paused">
			{list.map((p) => (
				<li key={inText(p)} data-scope={inText(p)}>
					<span><strong>‖ <Named scope={p} /></strong> is paused{p.actor && <> by <Text max={60}>{p.actor}</Text></>} since <Time at={p.at} />{p.reason && <>: <Text max={300}>{p.reason}</Text></>}
						{p.interrupts && "; steps are interrupted"}{p.unheeded?.length ? `; ${count(p.unheeded.length)} nodes have not answered and may still start steps` : ""}</span>
					<Act verb={p.workflow ? "workflow resume" : "queue resume"} of={{ workflow: p.workflow, version: p.version, queue: p.queue }} label={`Resume ${inText(p)}`} act={() => ask(resuming(p, done))}>Resume</Act>
				</li>
			))}
		</ul>
	);
}
