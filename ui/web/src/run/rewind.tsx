import { useState } from "preact/hooks";
import type { Detail } from "../api";
import { call, parse } from "../client";
import { Field, Flag } from "../parts/field";
import { go, to } from "../router";
import { Json, wrongJson } from "./json";
import { Previewed } from "./preview";

// Rewinding is where a dialog begins: at a point of the history, or nowhere.
export interface Rewinding {
	point?: string;
}

const texts = {
	retry: ["Retry the run", "Retry it", "It goes on from before the step or child that it has failed by. What came later stays readable as an earlier generation."],
	reset: ["Reset the run", "Reset it", "It goes on from an earlier point. Steps behind that run again if the code asks for them; what they did is not undone."],
	fork: ["Fork the run", "Fork it", "Another run begins with what this one has done up to a point. This one stays as it is."],
} as const;

const kinds = [
	["step", "before the first outcome of a step"],
	["event", "behind an event"],
	["failure", "before the failure, the request to cancel, or the termination"],
	["fits", "behind the last event that today's code replays"],
	["generation", "the beginning of this generation"],
	["start", "the beginning of the run"],
] as const;

// RewindDialog lets a run go on from an earlier point, or another run begin there.
export function RewindDialog({ verb, begin, detail, steps, may, close, done }: { verb: "retry" | "reset" | "fork"; begin: Rewinding; detail: Detail; steps: string[]; may: boolean; close: () => void; done: (said: string) => void }) {
	const { run } = detail;
	const path = { run: run.id };
	const [kind, setKind] = useState<string>(begin.point?.split(":")[0] ?? (steps.length ? "step" : "start"));
	const [value, setValue] = useState(begin.point?.includes(":") ? begin.point.slice(begin.point.indexOf(":") + 1) : "");
	const [again, setAgain] = useState(false);
	const [unproven, setUnproven] = useState(false);
	const [noMessages, setNoMessages] = useState(false);
	const [messages, setMessages] = useState("");
	const [keepChildren, setKeepChildren] = useState(false);
	const [input, setInput] = useState("");
	const [version, setVersion] = useState("");
	const [key, setKey] = useState("");
	const [queue, setQueue] = useState("");
	const [results, setResults] = useState("");
	const [title, word, says] = texts[verb];
	const anew = kind === "start" || kind === "generation";
	const withValue = kind === "step" || kind === "event";
	const body = () => {
		if (verb === "retry") return { again: again || undefined };
		return {
			point: withValue ? `${kind}:${value}` : kind,
			unproven: unproven || undefined,
			no_messages: noMessages || undefined,
			messages: noMessages && messages.trim() ? messages.split("\n").map((m) => m.trim()).filter(Boolean) : undefined,
			input: anew && input.trim() ? parse(input) : undefined,
			workflow_version: (anew || verb === "fork") && version ? Number(version) : undefined,
			...(verb === "reset" ? { keep_children: keepChildren || undefined } : { key: key || undefined, queue: queue || undefined, results: results.trim() ? (parse(results) as Record<string, unknown>) : undefined }),
		};
	};
	const wrong = verb === "retry" ? undefined : withValue && !value ? (kind === "step" ? "Name the step." : "Give the number of the event.") : kind === "event" && !/^\d+$/.test(value) ? "The event is a number." : (anew && wrongJson(input, true)) || wrongJson(results, true);
	const ask = (reason?: string, dry?: boolean) => {
		const b = body() as { point: string };
		const o = { path, query: dry ? { dry_run: true } : {} };
		if (verb === "retry") return call("POST /runs/{run}/retry", { ...o, body: { ...b, reason } });
		return call("POST /runs/{run}/reset", { ...o, body: { ...b, reason } });
	};
	const fork = (reason?: string, dry?: boolean) => call("POST /runs/{run}/fork", { path, query: dry ? { dry_run: true } : {}, body: { ...(body() as { point: string }), reason } });
	return (
		<Previewed title={title} verb={word} may={may} fork={verb === "fork"} close={close} asked={[kind, value, again, unproven, noMessages, messages, keepChildren, input, version, key, queue, results]} wrong={wrong || undefined}
			look={async () => (verb === "fork" ? (await fork(undefined, true)).of : ask(undefined, true))}
			act={async (reason) => {
				if (verb === "fork") {
					const made = await fork(reason);
					done("The run is forked: this is the fork");
					go(to(["runs", made.run!]));
				} else {
					await ask(reason);
					done(verb === "retry" ? "The run is retried" : "The run is reset");
				}
			}}>
			<p class="say">{says}</p>
			{verb === "retry" ? <Flag label="Also if steps have completed since the failure" hint="Compensations, above all: what they did is not undone, and the code asks for them again if it comes there again." checked={again} set={setAgain} /> : (
				<>
					<div class="two">
						<Field label="Point"><select value={kind} onChange={(e) => { setKind(e.currentTarget.value); setValue(""); }}>{kinds.map(([k, says]) => <option key={k} value={k}>{says}</option>)}</select></Field>
						{kind === "step" && <Field label="Step"><input list="steps" value={value} onInput={(e) => setValue(e.currentTarget.value)} autocomplete="off" /></Field>}
						{kind === "event" && <Field label="Event" hint={`its number, up to ${detail.events}`}><input inputMode="numeric" value={value} onInput={(e) => setValue(e.currentTarget.value.trim())} autocomplete="off" /></Field>}
					</div>
					<Steps names={steps} />
					<details class="options">
						<summary>Options</summary>
						<Flag label="Do not replay what is kept" hint="Nothing proves then that the code fits it. The run blocks if it does not." checked={unproven} set={setUnproven} />
						<Flag label="Leave out messages" hint="Signals and updates that what is kept has not consumed. Without this, all of them come again." checked={noMessages} set={setNoMessages} />
						{noMessages && <Field label="Messages that come all the same" hint="Names of signals and updates, one a line."><textarea value={messages} rows={2} onInput={(e) => setMessages(e.currentTarget.value)} /></Field>}
						{verb === "reset" && <Flag label="Keep children" hint="Children that were started behind the point are not cancelled." checked={keepChildren} set={setKeepChildren} />}
						{verb === "fork" && <div class="two"><Field label="Key of the fork"><input value={key} onInput={(e) => setKey(e.currentTarget.value)} autocomplete="off" /></Field><Field label="Queue" hint={`without it ${run.queue}`}><input value={queue} onInput={(e) => setQueue(e.currentTarget.value)} autocomplete="off" /></Field></div>}
						{(anew || verb === "fork") && <Field label="Version of the workflow" hint={`without it ${run.version}`}><input inputMode="numeric" value={version} onInput={(e) => setVersion(e.currentTarget.value.replace(/\D/g, ""))} /></Field>}
						{anew && <Json label="Another input" text={input} set={setInput} empty />}
						{verb === "fork" && <Json label="Other results of steps" hint={'By the numbers of the events that have their outcomes: {"3": "receipt"}'} text={results} set={setResults} empty />}
					</details>
				</>
			)}
		</Previewed>
	);
}

// Steps are what a field for the name of a step completes.
export function Steps({ names }: { names: string[] }) {
	return <datalist id="steps">{names.slice(0, 500).map((n) => <option key={n} value={n} />)}</datalist>;
}
