import { useState } from "preact/hooks";
import type { Problem, Rewound } from "../api";
import { problemOf } from "../client";
import { Dialog } from "../parts/dialog";
import { Field } from "../parts/field";
import { RunLink } from "../parts/link";
import { FailureView, PayloadView } from "../parts/payload";
import { ProblemBox } from "../parts/problem";
import { count, many, Text } from "../parts/text";

const shownMax = 100;

// Previewed asks first what would be done, shows that, and does it only as it was shown: whatever
// changes what is asked takes the preview away.
export function Previewed({ title, verb, asked, wrong, look, act, may, fork, close, children }: {
	title: string;
	verb: string;
	asked: unknown; // all that the request says but its reason
	wrong?: string; // why nothing can be asked yet
	look: () => Promise<Rewound>;
	act: (reason: string) => Promise<void>;
	may: boolean;
	fork?: boolean;
	close: () => void;
	children?: preact.ComponentChildren;
}) {
	const key = JSON.stringify(asked);
	const [seen, setSeen] = useState<{ key: string; would?: Rewound; problem?: Problem }>();
	const [reason, setReason] = useState("");
	const [busy, setBusy] = useState(false);
	const current = seen?.key === key ? seen : undefined;
	const would = current?.would;
	const during = async (what: () => Promise<void>) => {
		if (busy) return;
		setBusy(true);
		try {
			await what();
		} catch (e) {
			setSeen({ key, would, problem: problemOf(e) });
		}
		setBusy(false);
	};
	const preview = () => during(async () => setSeen({ key, would: await look() }));
	const submit = (e: Event) => {
		e.preventDefault();
		if (wrong) return;
		if (!would) void preview();
		else if (may) void during(async () => { await act(reason); close(); });
	};
	return (
		<Dialog title={title} close={close} wide>
			<form onSubmit={submit}>
				{children}
				<ProblemBox problem={current?.problem} />
				<div aria-live="polite">{would && <WouldBe would={would} fork={fork} />}</div>
				{may && <Field label="Reason" hint="For the audit. It may be empty."><input value={reason} onInput={(e) => setReason(e.currentTarget.value)} autocomplete="off" /></Field>}
				{wrong && <p class="hint">{wrong}</p>}
				{!may && <p class="hint">You may look at what it would do, and not do it.</p>}
				<footer>
					<button type="button" onClick={close}>Leave it</button>
					{would && <button type="button" disabled={busy} onClick={preview}>Look again</button>}
					{would ? may && <button type="submit" class="primary" disabled={busy}>{verb}</button> : <button type="submit" class="primary" aria-busy={busy} disabled={busy || !!wrong}>Show what it would do</button>}
				</footer>
			</form>
		</Dialog>
	);
}

const againText: Record<string, string> = { certainly: "runs again", perhaps: "runs again if the code asks for it", no: "keeps its result" };

// fates are what becomes of messages, what is lost first.
const fates = ["dropped", "again", "kept"];
const fateText: Record<string, string> = { dropped: "is dropped", again: "comes again", kept: "stays consumed" };

// WouldBe says what would be kept, what would run again, and what would have another result.
function WouldBe({ would, fork }: { would: Rewound; fork?: boolean }) {
	const steps = would.steps ?? [];
	return (
		<section class="preview" aria-label="What it would do">
			<p>{fork ? "The fork" : `Generation ${would.generation}`} would begin with {would.kept === 0 ? "no event" : many(would.kept, "event")} of what there is. {steps.length === 0 ? "No step that has ended would run again." : `${many(steps.length, "step")} that ${steps.length === 1 ? "has" : "have"} ended since:`}</p>
			{steps.length > 0 && (
				<ul class="again">
					{steps.slice(0, shownMax).map((s) => (
						<li key={s.seq} data-again={s.again}>
							<details>
								<summary><Text max={100}>{s.step}</Text> <span class="soft">event {s.seq}{s.failed ? ", failed" : ""}{s.attempts > 1 ? `, ${s.attempts} attempts` : ""}</span> <strong>{againText[s.again] ?? s.again}</strong></summary>
								<PayloadView payload={s.outcome} name={`outcome of ${s.step}`} />
							</details>
						</li>
					))}
					{steps.length > shownMax && <li class="hint">and {count(steps.length - shownMax)} more</li>}
				</ul>
			)}
			{would.messages && (
				<details class="along">
					<summary>{many(would.messages.length, "message")}{would.messages.some((m) => m.fate === "dropped") ? `, ${count(would.messages.filter((m) => m.fate === "dropped").length)} would be dropped` : ""}</summary>
					<ul>
						{[...would.messages].sort((a, b) => fates.indexOf(a.fate) - fates.indexOf(b.fate)).slice(0, shownMax).map((m) => (
							<li key={m.message}>{m.kind} <Text max={100}>{m.name ?? ""}</Text> <span class="soft">message {m.message}{m.seq ? `, event ${m.seq}` : ""}</span> <strong>{fateText[m.fate] ?? m.fate}</strong></li>
						))}
						{(would.messages.length > shownMax || would.more_messages) && <li class="hint">and more</li>}
					</ul>
				</details>
			)}
			{would.children && (
				<details class="along">
					<summary>{many(would.children.length, "run")} below it would go on first</summary>
					<ul>
						{would.children.slice(0, shownMax).map((a) => (
							<li key={a.run}><RunLink run={{ id: a.run }} /> <span class="soft">with {a.kept === 0 ? "no event" : many(a.kept, "event")} of what there is{a.steps ? `; again: ${a.steps.map((s) => s.step).join(", ")}` : ""}</span></li>
						))}
						{would.children.length > shownMax && <li class="hint">and {count(would.children.length - shownMax)} more</li>}
					</ul>
				</details>
			)}
			{would.replaced?.map((r) => (
				<div class="replaced" key={r.step + r.seq}>
					<p><Text>{r.step}</Text> would have another result:</p>
					<div class="two">
						<div><p class="hint">{r.was ? "instead of" : "it had none"}</p>{r.was?.failure ? <FailureView failure={r.was.failure} /> : r.was && <PayloadView payload={r.was} name="present result" />}</div>
						<div><p class="hint">from now on</p><PayloadView payload={r.new} name="new result" /></div>
					</div>
				</div>
			))}
		</section>
	);
}
