import { useMemo, useState } from "preact/hooks";
import type { Detail, Event, Problem } from "../api";
import { call, problemOf } from "../client";
import { Empty } from "../parts/empty";
import { Field, Flag } from "../parts/field";
import { PayloadView } from "../parts/payload";
import { ProblemBox } from "../parts/problem";
import { plain } from "../parts/text";
import { toast } from "../parts/toast";
import type { Can } from "./can";
import { type Forms, useForms } from "./forms";
import type { Schema } from "./schema";
import { TypedFields, useTyped } from "./typed";

type Verb = "query" | "update" | "signal";
const verbs: Verb[] = ["query", "update", "signal"];

const texts: Record<Verb, [title: string, act: string, says: string]> = {
	query: ["Query", "Ask", "A query asks the run's code something. Nothing is written."],
	update: ["Update", "Send and wait for the answer", "An update changes what the run does, and its handler answers or refuses."],
	signal: ["Signal", "Send", "A signal goes into the run's inbox. Nobody answers."],
};

// Ask has what a run can be asked and told.
export function Ask({ detail, events, version, can, done, begin }: { detail: Detail; events: Event[]; version: number; can: Can; done: () => void; begin?: string }) {
	const forms = useForms(detail.run);
	const names = useMemo(() => namesOf(detail, events, forms), [detail, events, version, forms]);
	const offered = verbs.filter((v) => can(v) && (v === "query" || can.open));
	const [verb, setVerb] = useState<Verb>(begin ? "signal" : offered[0] ?? "query");
	if (!offered.length) return <Empty title="You may not ask or tell the run anything." />;
	return (
		<div class="ask">
			<fieldset class="row joined"><legend class="hidden">What to send</legend>
				{offered.map((v) => <label key={v} class="choice"><input type="radio" name="verb" checked={verb === v} onChange={() => setVerb(v)} /> {texts[v][0]}</label>)}
			</fieldset>
			{!can.open && <p class="hint">The run has ended: it takes no signals and no updates. Queries are answered from its history.</p>}
			<One key={verb} verb={verb} run={detail.run.id} names={names[verb]} schemas={forms[verb]} begin={verb === "signal" ? begin : undefined} done={done} />
		</div>
	);
}

// namesOf are those that the code has registered, and those that the run waits for or has got.
function namesOf(detail: Detail, events: Event[], forms: Forms): Record<Verb, string[]> {
	const signals = new Set(Object.keys(forms.signal));
	const updates = new Set(Object.keys(forms.update));
	for (const line of detail.run.waiting ?? []) if (line.startsWith("signal ")) signals.add(line.slice("signal ".length));
	for (const e of events) {
		if (e.kind === "SignalReceived" && e.name) signals.add(e.name);
		if (e.kind === "UpdateReceived" && e.name) updates.add(e.name);
	}
	const list = (s: Set<string>) => [...s].slice(0, 500);
	return { signal: list(signals), update: list(updates), query: Object.keys(forms.query) };
}

function One({ verb, run, names, schemas, begin, done }: { verb: Verb; run: string; names: string[]; schemas: Record<string, Schema | undefined>; begin?: string; done: () => void }) {
	const [name, setName] = useState(begin ?? (names.length === 1 ? names[0]! : ""));
	const [key, setKey] = useState("");
	const [refuse, setRefuse] = useState(false);
	const [busy, setBusy] = useState(false);
	const [problem, setProblem] = useState<Problem>();
	const [answer, setAnswer] = useState<{ name: string; value: unknown; asOf?: number; behind?: string }>();
	const typed = useTyped(Object.hasOwn(schemas, name) ? schemas[name] : undefined);
	const { value } = typed;
	const [title, act, says] = texts[verb];
	const submit = async (e: Event_) => {
		e.preventDefault();
		if (busy || !name.trim() || !typed.ready()) return;
		setBusy(true);
		setProblem(undefined);
		setAnswer(undefined);
		const path = { run };
		try {
			if (verb === "signal") {
				await call("POST /runs/{run}/signal", { path, body: { name, payload: value, key: key || undefined } });
				toast("The signal is in the run's inbox");
			} else if (verb === "update") {
				const a = await call("POST /runs/{run}/update", { path, body: { name, argument: value, key: key || undefined, refuse_paused: refuse || undefined } });
				setAnswer({ name, value: a.answer });
			} else {
				const a = await call("POST /runs/{run}/query", { path, body: { name, argument: value } });
				setAnswer({ name, value: a.answer, asOf: a.as_of, behind: a.behind });
			}
			if (verb !== "query") done();
		} catch (e) {
			setProblem(problemOf(e));
		}
		setBusy(false);
	};
	return (
		<form class={"one " + verb} onSubmit={submit} aria-label={title}>
			<p class="hint">{says}</p>
			<Field label="Name" hint={names.length ? undefined : "The store knows no names; give one that the code has."}><input required list={"names-" + verb} value={name} onInput={(e) => setName(e.currentTarget.value)} autocomplete="off" /></Field>
			<datalist id={"names-" + verb}>{names.map((n) => <option key={n} value={n} />)}</datalist>
			<TypedFields key={name} typed={typed} label={verb === "signal" ? "Payload" : "Argument"} />
			{verb !== "query" && <details class="options">
				<summary>Options</summary>
				<Field label="Key" hint={verb === "signal" ? "A second signal with this key is dropped." : "A second update with this key is the same one, and gets the same answer."}><input value={key} onInput={(e) => setKey(e.currentTarget.value)} autocomplete="off" /></Field>
				{verb === "update" && <Flag label="Not if the run is paused" hint="Nothing is sent if the run, its queue or its workflow is paused." checked={refuse} set={setRefuse} />}
			</details>}
			<p class="row"><button type="submit" class="primary" aria-busy={busy} disabled={busy || !name.trim()}>{act}</button></p>
			<ProblemBox problem={problem} />
			<div aria-live="polite">{answer && <section aria-label="Answer"><h2>Answer</h2>{answer.behind && <p class="hint">as of event {answer.asOf}: <bdi>{plain(answer.behind)}</bdi></p>}<PayloadView payload={{ value: answer.value ?? null }} name={`answer of ${answer.name}`} /></section>}</div>
		</form>
	);
}

type Event_ = globalThis.Event;
