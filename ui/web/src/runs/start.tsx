import { useId, useState } from "preact/hooks";
import type { Problem, Served, StartRequest } from "../api";
import { call, problemOf } from "../client";
import type { Known } from "../filter";
import { Dialog } from "../parts/dialog";
import { Field } from "../parts/field";
import { ProblemBox } from "../parts/problem";
import { toast } from "../parts/toast";
import { to } from "../router";
import { useServed } from "../run/forms";
import type { Schema } from "../run/schema";
import { TypedFields, useTyped } from "../run/typed";
import { labelsOf } from "./bulk";

// StartDialog starts a run. A key makes it safe to send it twice: the second start finds the run of
// the first one.
export function StartDialog({ known, served, workflow: first, close }: { known: Known; served: Served[]; workflow?: string; close: () => void }) {
	const [form, setForm] = useState<Record<string, string>>({ reuse: "reject", workflow: first ?? "" });
	const [problem, setProblem] = useState<Problem>();
	const [busy, setBusy] = useState(false);
	const id = useId();
	const set = (name: string) => (e: Event) => setForm({ ...form, [name]: (e.currentTarget as HTMLInputElement).value });
	const workflow = form.workflow ?? "";
	const serves = served.filter((s) => s.workflow === workflow);
	const typed = useTyped(useServed(workflow, Number(form.version) || 1)?.input as Schema | undefined);
	const submit = async (e: Event) => {
		e.preventDefault();
		if (busy || !typed.ready()) return;
		setBusy(true);
		setProblem(undefined);
		try {
			const started = await call("POST /runs", { body: bodyOf(form, typed.value) });
			close();
			toast(<>{started.created ? "Started: " : "A run had the key already: "}<a href={to(["runs", started.run])}>{form.key || "the run"}</a></>);
		} catch (e) {
			setProblem(problemOf(e));
			setBusy(false);
		}
	};
	return (
		<Dialog title="Start a run" close={close}>
			<form onSubmit={submit}>
				<Field label="Workflow" hint={workflow && served.length > 0 && serves.length === 0 ? "No live node serves it: the run waits for one." : undefined}>
					<input value={workflow} onInput={set("workflow")} list={id + "w"} required autocomplete="off" />
				</Field>
				<datalist id={id + "w"}>{known("workflow").map((w) => <option key={w} value={w} />)}</datalist>
				<TypedFields typed={typed} label="Input" />
				<Field label="Key" hint="Its name for people. A second start with it finds this run."><input value={form.key ?? ""} onInput={set("key")} autocomplete="off" /></Field>
				<Field label="Queue"><input value={form.queue ?? ""} onInput={set("queue")} list={id + "q"} placeholder="default" autocomplete="off" /></Field>
				<datalist id={id + "q"}>{known("queue").map((q) => <option key={q} value={q} />)}</datalist>
				<Field label="Labels" hint="A line each: name=value."><textarea class="low" value={form.labels ?? ""} onInput={set("labels")} spellcheck={false} /></Field>
				<details>
					<summary>More</summary>
					<Field label="Version" hint={serves.length > 0 ? `Nodes serve ${[...new Set(serves.map((s) => s.version))].join(", ")}.` : "1 if it is empty."}><input value={form.version ?? ""} onInput={set("version")} inputMode="numeric" pattern="[0-9]*" /></Field>
					<Field label="Priority" hint="1 is the most urgent."><select value={form.priority ?? "3"} onChange={set("priority")}>{[1, 2, 3, 4, 5].map((p) => <option key={p}>{p}</option>)}</select></Field>
					<Field label="Delay" hint="How long its code does not begin: 90m, 12h, 3d."><input value={form.delay ?? ""} onInput={set("delay")} autocomplete="off" /></Field>
					<Field label="Timeout" hint="How long it may take: 90m, 12h, 3d."><input value={form.run_timeout ?? ""} onInput={set("run_timeout")} autocomplete="off" /></Field>
					<Field label="If a closed run has the key"><select value={form.reuse} onChange={set("reuse")}>{["reject", "allow", "allow-if-failed"].map((r) => <option key={r}>{r}</option>)}</select></Field>
					<Field label="If it fails, start" hint="Name of a workflow."><input value={form.on_failure ?? ""} onInput={set("on_failure")} list={id + "w"} autocomplete="off" /></Field>
					<Field label="Limits" hint="A line each: name, name:key or name:key*cost. It begins when it has all of them, and holds them until it closes."><textarea class="low" value={form.limits ?? ""} onInput={set("limits")} spellcheck={false} /></Field>
				</details>
				<ProblemBox problem={problem} />
				<footer>
					<button type="button" onClick={close}>Leave it</button>
					<button type="submit" class="primary" disabled={busy} aria-busy={busy}>Start</button>
				</footer>
			</form>
		</Dialog>
	);
}

function bodyOf(form: Record<string, string>, input: unknown): StartRequest {
	return {
		workflow: form.workflow ?? "",
		input,
		key: form.key || undefined,
		reuse: form.key && form.reuse !== "reject" ? form.reuse : undefined,
		version: Number(form.version) || undefined,
		queue: form.queue || undefined,
		priority: Number(form.priority) || undefined,
		labels: labelsOf(form.labels),
		delay: form.delay || undefined,
		run_timeout: form.run_timeout || undefined,
		on_failure: form.on_failure || undefined,
		limits: limitsOf(form.limits),
	};
}

// limitsOf reads limits as the command does: a name, perhaps a key behind the first colon, perhaps
// a cost behind the last star.
function limitsOf(text?: string): StartRequest["limits"] {
	const lines = (text ?? "").split("\n").map((line) => line.trim()).filter(Boolean);
	if (!lines.length) return undefined;
	return lines.map((line) => {
		const [, need = line, cost] = /^(.*)\*(\d+)$/.exec(line) ?? [];
		const at = need.indexOf(":");
		return { name: at < 0 ? need : need.slice(0, at), key: at < 0 ? undefined : need.slice(at + 1) || undefined, cost: cost ? Number(cost) : undefined };
	});
}
