import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { Problem } from "../api";
import { problemOf } from "../client";
import { Field } from "./field";
import { ProblemBox } from "./problem";

// Dialog is what has to be answered first. The browser keeps the focus in it, gives it back, and
// closes it with Escape.
export function Dialog({ title, close, children, wide }: { title: string; close: () => void; children: ComponentChildren; wide?: boolean }) {
	const ref = useRef<HTMLDialogElement>(null);
	const id = useId();
	useEffect(() => {
		const d = ref.current!;
		const before = document.activeElement as HTMLElement | null;
		d.showModal();
		d.querySelector<HTMLElement>("form input, form select, form textarea")?.focus();
		return () => {
			d.close();
			if (before?.isConnected) before.focus();
		};
	}, []);
	return (
		<dialog ref={ref} class={wide ? "wide" : undefined} aria-labelledby={id} onCancel={(e) => { e.preventDefault(); close(); }}>
			<header><h2 id={id}>{title}</h2><button type="button" class="quiet" aria-label="Close" onClick={close}>✕</button></header>
			{children}
		</dialog>
	);
}

// Confirm asks before something is done, for a reason that goes into the audit. What do throws is
// shown in it, and it stays.
export function Confirm({ title, verb, danger, reason: asks = true, ready = true, close, act, children }: {
	title: string;
	verb: string;
	danger?: boolean;
	reason?: boolean;
	ready?: boolean;
	close: () => void;
	act: (reason: string) => Promise<void>;
	children?: ComponentChildren;
}) {
	const [reason, setReason] = useState("");
	const [busy, setBusy] = useState(false);
	const [problem, setProblem] = useState<Problem>();
	const submit = async (e: Event) => {
		e.preventDefault();
		if (busy || !ready) return;
		setBusy(true);
		setProblem(undefined);
		try {
			await act(reason);
			close();
		} catch (e) {
			setProblem(problemOf(e));
			setBusy(false);
		}
	};
	return (
		<Dialog title={title} close={close}>
			<form onSubmit={submit}>
				{children}
				{asks && <Field label="Reason" hint="For the audit. It may be empty."><input value={reason} onInput={(e) => setReason(e.currentTarget.value)} autocomplete="off" /></Field>}
				<ProblemBox problem={problem} />
				<footer>
					<button type="button" onClick={close}>Leave it</button>
					<button type="submit" class={danger ? "danger" : "primary"} aria-busy={busy} disabled={busy || !ready}>{verb}</button>
				</footer>
			</form>
		</Dialog>
	);
}
