import { useState } from "preact/hooks";
import type { Bulk, BulkRequest, Problem } from "../api";
import { call, parse, problemOf } from "../client";
import { splitOrder } from "../filter";
import { useMay } from "../may";
import { Dialog } from "../parts/dialog";
import { Field, Flag } from "../parts/field";
import { ProblemBox } from "../parts/problem";
import { many } from "../parts/text";
import { toast } from "../parts/toast";
import { to } from "../router";

// Verb is what a job can do to runs, and what has to be said for it.
interface Verb {
	verb: string;
	does: string;
	needs?: Array<"signal" | "payload" | "labels" | "remove" | "priority" | "point" | "step" | "freeze_timers" | "unproven" | "no_messages" | "keep_children" | "workflow_version" | "queue">;
	danger?: boolean;
}

const verbs: Verb[] = [
	{ verb: "cancel", does: "asks them to cancel themselves" },
	{ verb: "terminate", does: "ends them at once; their code does not notice", danger: true },
	{ verb: "pause", does: "lets no step of them start until a resume", needs: ["freeze_timers"] },
	{ verb: "resume", does: "lets paused and quarantined runs go on" },
	{ verb: "retry", does: "lets failed runs go on behind what has succeeded" },
	{ verb: "reset", does: "goes back to a point of their histories", needs: ["point", "unproven", "no_messages", "keep_children"] },
	{ verb: "fork", does: "starts copies that go on from a point of their histories", needs: ["point", "workflow_version", "queue", "unproven", "no_messages"] },
	{ verb: "signal", does: "sends each of them a signal", needs: ["signal", "payload"] },
	{ verb: "set-labels", does: "sets and removes labels", needs: ["labels", "remove"] },
	{ verb: "set-priority", does: "makes them more or less urgent", needs: ["priority"] },
	{ verb: "edit", does: "replaces the result of a step", needs: ["step", "payload", "unproven", "keep_children"] },
	{ verb: "delete", does: "deletes closed runs with their histories", danger: true },
];

// bulkVerbs are those of the jobs that the actor may start.
export const bulkVerbs = (may: (verb: string) => boolean) => verbs.filter((v) => may("bulk " + v.verb));

// A job names the runs that somebody has chosen one by one: a filter has at most so many values.
export const chosenMax = 200;

// BulkDialog says what is done to the runs of a filter, counts them, and starts a job that does it.
// What was counted is what is confirmed: whatever changes after it has to be counted anew.
export function BulkDialog({ where, verb: first = "cancel", close, started }: { where: string; verb?: string; close: () => void; started?: () => void }) {
	const [form, setForm] = useState<Record<string, string>>({ verb: first, priority: "3", point: "failure" });
	const [flags, setFlags] = useState<Record<string, boolean>>({});
	const [counted, setCounted] = useState<Bulk>();
	const [problem, setProblem] = useState<Problem>();
	const [busy, setBusy] = useState(false);
	const allowed = bulkVerbs(useMay());
	const verb = allowed.find((v) => v.verb === form.verb) ?? allowed[0] ?? verbs[0]!;
	const needs = (n: NonNullable<Verb["needs"]>[number]) => verb.needs?.includes(n);
	const set = (name: string) => (e: Event) => {
		setForm({ ...form, [name]: (e.currentTarget as HTMLInputElement).value });
		setCounted(undefined);
	};
	const flag = (name: string) => (on: boolean) => {
		setFlags({ ...flags, [name]: on });
		setCounted(undefined);
	};
	const ask = async (dryRun: boolean) => {
		setBusy(true);
		setProblem(undefined);
		try {
			const job = await call("POST /bulk", { query: { dry_run: dryRun }, body: bodyOf(where, verb, form, flags) });
			if (dryRun) return setCounted(job);
			close();
			started?.();
			toast(job.run ? <>Job started: <a href={to(["bulk", job.run])}>{verb.verb} {many(job.runs, "run", "runs", job.capped)}</a></> : "No run is like this any more. Nothing was done.");
		} catch (e) {
			setProblem(problemOf(e));
		} finally {
			setBusy(false);
		}
	};
	const submit = (e: Event) => {
		e.preventDefault();
		if (!busy && counted?.runs !== 0) void ask(!counted);
	};
	return (
		<Dialog title="Do something to many runs" close={close}>
			<form onSubmit={submit}>
				<Field label="What" hint={`It ${verb.does}.`}>
					<select value={form.verb} onChange={set("verb")}>{allowed.map((v) => <option key={v.verb}>{v.verb}</option>)}</select>
				</Field>
				<p class="field"><strong class="small">Which runs</strong><code class="shown">{splitOrder(where).where || "all runs"}</code></p>
				{needs("signal") && <Field label="Signal"><input value={form.signal ?? ""} onInput={set("signal")} required autocomplete="off" /></Field>}
				{needs("step") && <Field label="Step" hint="Its name."><input value={form.step ?? ""} onInput={set("step")} required autocomplete="off" /></Field>}
				{needs("payload") && <Field label={verb.verb === "edit" ? "Result" : "Payload"} hint="JSON; null if it is empty."><textarea value={form.payload ?? ""} onInput={set("payload")} spellcheck={false} /></Field>}
				{needs("labels") && <Field label="Labels to set" hint="A line each: name=value."><textarea value={form.labels ?? ""} onInput={set("labels")} spellcheck={false} /></Field>}
				{needs("remove") && <Field label="Labels to remove" hint="A name in each line."><textarea value={form.remove ?? ""} onInput={set("remove")} spellcheck={false} /></Field>}
				{needs("priority") && <Field label="Priority" hint="1 is the most urgent."><select value={form.priority} onChange={set("priority")}>{[1, 2, 3, 4, 5].map((p) => <option key={p}>{p}</option>)}</select></Field>}
				{needs("point") && <Field label="Point" hint="failure, start, generation, fits, step:NAME or event:N."><input value={form.point} onInput={set("point")} required autocomplete="off" spellcheck={false} /></Field>}
				{needs("workflow_version") && <Field label="Version" hint="Of the workflow of the copies; as it is if empty."><input value={form.workflow_version ?? ""} onInput={set("workflow_version")} inputMode="numeric" pattern="[0-9]*" /></Field>}
				{needs("queue") && <Field label="Queue" hint="Of the copies; as it is if empty."><input value={form.queue ?? ""} onInput={set("queue")} autocomplete="off" /></Field>}
				{needs("freeze_timers") && <Flag label="Timers stand still" hint="They have then what is left of their time now." checked={!!flags.freeze_timers} set={flag("freeze_timers")} />}
				{needs("no_messages") && <Flag label="Leave out messages" hint="Signals and updates that what is kept has not consumed." checked={!!flags.no_messages} set={flag("no_messages")} />}
				{needs("keep_children") && <Flag label="Keep children" hint="Those whose start is taken back are not cancelled." checked={!!flags.keep_children} set={flag("keep_children")} />}
				{needs("unproven") && <Flag label="Unproven" hint="Do not replay what is kept; a run blocks if its code does not fit." checked={!!flags.unproven} set={flag("unproven")} />}
				<Field label="Reason" hint="For the audit, and for who looks at the runs."><input value={form.reason ?? ""} onInput={set("reason")} autocomplete="off" /></Field>
				<Field label="At most so many a second" hint="As many as it can if empty."><input value={form.rate ?? ""} onInput={set("rate")} inputMode="decimal" pattern="[0-9.]*" /></Field>
				<ProblemBox problem={problem} />
				<p class="verdict" role="status">{counted && (counted.runs === 0 ? "No run is like this: there is nothing to do." : <>{verb.verb} would act on <strong>{many(counted.runs, "run", "runs", counted.capped)}</strong>.</>)}</p>
				<footer>
					<button type="button" onClick={close}>Leave it</button>
					{counted && counted.runs > 0
						? <button type="submit" class={verb.danger ? "danger" : "primary"} disabled={busy} aria-busy={busy}>{verb.verb} {many(counted.runs, "run", "runs", counted.capped)}</button>
						: <button type="submit" class="primary" disabled={busy || counted?.runs === 0} aria-busy={busy}>Count the runs</button>}
				</footer>
			</form>
		</Dialog>
	);
}

// bodyOf is the request that a form says. What is wrong in it is told by the API, but JSON.
function bodyOf(where: string, verb: Verb, form: Record<string, string>, flags: Record<string, boolean>): BulkRequest {
	const condition = splitOrder(where).where;
	const body: BulkRequest = { verb: verb.verb, reason: form.reason || undefined, rate: Number(form.rate) || undefined };
	if (condition) body.where = condition;
	else body.all = true;
	const lines = (text?: string) => (text ?? "").split("\n").map((l) => l.trim()).filter(Boolean);
	for (const n of verb.needs ?? []) {
		switch (n) {
			case "payload":
				body.payload = json(form.payload);
				break;
			case "labels":
				body.labels = labelsOf(form.labels);
				break;
			case "remove":
				body.remove = lines(form.remove);
				break;
			case "priority":
			case "workflow_version":
				body[n] = Number(form[n]) || undefined;
				break;
			case "signal":
			case "step":
			case "point":
			case "queue":
				body[n] = form[n] || undefined;
				break;
			default:
				body[n] = flags[n] || undefined;
		}
	}
	return body;
}

// json reads what somebody has written, nothing if it is empty.
export function json(text: string | undefined): unknown {
	if (!text?.trim()) return undefined;
	try {
		return parse(text);
	} catch (e) {
		throw new Error(`This is no JSON: ${(e as Error).message}. A text stands in quotes: "…".`);
	}
}

// labelsOf reads lines of name=value.
export function labelsOf(text: string | undefined): Record<string, string> | undefined {
	const list = (text ?? "").split("\n").filter((l) => l.trim());
	if (list.length === 0) return undefined;
	const labels: Record<string, string> = {};
	for (const l of list) {
		const at = l.indexOf("=");
		if (at < 1) throw new Error(`The label ${JSON.stringify(l)} is not name=value.`);
		labels[l.slice(0, at).trim()] = l.slice(at + 1).trim();
	}
	return labels;
}
