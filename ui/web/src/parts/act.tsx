import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { readOnly } from "../client";
import { type About, useMay } from "../may";
import { Confirm } from "./dialog";
import { Flag } from "./field";

// Act is a button that changes something with a verb: one of no single run, maybe of a workflow or
// a queue, or one of those that a record says its reader may do. It is not there if the API would
// refuse it. May is undefined if nobody is asked about the record.
export function Act({ act, verb, of, may, danger, quiet, label, children }: { act: () => void; verb: string; of?: About; may?: { verbs?: string[] }; danger?: boolean; quiet?: boolean; label?: string; children: ComponentChildren }) {
	const allowed = useMay(of);
	if (may ? readOnly || (may.verbs && !may.verbs.includes(verb)) : !allowed(verb)) return null;
	return <button type="button" class={danger ? "danger" : quiet ? "quiet" : undefined} aria-label={label} onClick={act}>{children}</button>;
}

// Question is what is asked before something is done, see Confirm.
export interface Question {
	title: string;
	verb: string;
	danger?: boolean;
	reason?: boolean;
	act: (reason: string) => Promise<void>;
	children?: ComponentChildren;
}

// useAsk gives a page one question at a time: a function that asks it, which stays the same, and
// what is shown of it.
export function useAsk(): [(q: Question) => void, ComponentChildren] {
	const [asked, set] = useState<Question>();
	const close = useMemo(() => () => set(undefined), []);
	return [set as (q: Question) => void, asked && <Confirm {...asked} close={close}>{asked.children}</Confirm>];
}

// Choice is a box to tick in a question. What is chosen is told to set, for the act.
export function Choice({ label, hint, on = false, set }: { label: string; hint?: string; on?: boolean; set: (on: boolean) => void }) {
	const [checked, check] = useState(on);
	return <Flag label={label} hint={hint} checked={checked} set={(v) => { check(v); set(v); }} />;
}
