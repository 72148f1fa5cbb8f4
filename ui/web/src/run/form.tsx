import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import { written } from "../parts/payload";
import { plain } from "../parts/text";
import { below, blank, fieldsOf, numberOf, resolve, type Schema, Unread, valueOf, wayOf } from "./schema";

// Whole is what all fields of a form know: the type of the whole value, and what is wrong where.
export interface Whole {
	root: Schema;
	faults: Map<string, string>;
	told: boolean; // also what somebody has not touched yet is told to be wrong
}

interface One {
	whole: Whole;
	schema: Schema;
	value: unknown;
	set: (v: unknown) => void; // gets the value anew, undefined if it is to be left out
	name: string;
	path?: string;
	depth?: number;
	required?: boolean;
}

// Form is a value's fields, as its type has them.
export function Form(o: One) {
	const s = resolve(o.schema, o.whole.root);
	switch (wayOf(s, o.value, o.depth ?? 0)) {
		case "object":
			return <ObjectFields {...o} schema={s} />;
		case "array":
			return <Elements {...o} schema={s} />;
	}
	return <Simple {...o} schema={s} />;
}

// ObjectFields are the fields of a part. One that may be absent has none until somebody adds it: a
// type that is inside itself would fill the page.
function ObjectFields({ whole, schema: s, value, set, name, path = "", depth = 0, required }: One) {
	const fields = fieldsOf(s);
	const absent = !required && (value === undefined || value === null);
	const object = (value ?? {}) as Record<string, unknown>;
	return (
		<fieldset class="object" data-depth={depth}>
			<legend>{depth === 0 ? <span class="hidden">{plain(name)}</span> : plain(name)}{!required && <span class="soft"> optional</span>}</legend>
			{s.description && <p class="hint">{plain(s.description)}</p>}
			{!absent && fields.map(([field, p]) => (
				<Form key={field} whole={whole} schema={p} name={field} path={below(path, field)} depth={depth + 1} required={s.required?.includes(field)} value={object[field]}
					set={(v) => {
						const { [field]: _, ...rest } = object;
						set(v === undefined ? rest : { ...object, [field]: v });
					}} />
			))}
			{!absent && fields.length === 0 && <p class="hint">It has no fields.</p>}
			{!required && (absent
				? <button type="button" class="quiet" aria-label={`Add ${plain(name)}`} onClick={() => set(blank(s, whole.root, depth))}>Add</button>
				: <button type="button" class="quiet" aria-label={`Remove ${plain(name)}`} onClick={() => set(undefined)}>Remove</button>)}
		</fieldset>
	);
}

function Elements({ whole, schema: s, value, set, name, path = "", depth = 0 }: One) {
	const list = (value ?? []) as unknown[];
	const of = s.items as Schema;
	return (
		<fieldset class="object" data-depth={depth}>
			<legend>{plain(name)}</legend>
			{s.description && <p class="hint">{plain(s.description)}</p>}
			{list.map((x, i) => (
				<div class="element" key={i}>
					<Form whole={whole} schema={of} name={`${name} ${i + 1}`} path={below(path, i)} depth={depth + 1} required value={x} set={(v) => set(list.map((y, j) => (j === i ? (v ?? null) : y)))} />
					<button type="button" class="quiet" aria-label={`Remove ${plain(name)} ${i + 1}`} onClick={() => set(list.filter((_, j) => j !== i))}>✕</button>
				</div>
			))}
			{(s.maxItems === undefined || list.length < s.maxItems) && <button type="button" class="quiet" aria-label={`Add ${plain(name)}`} onClick={() => set([...list, blank(of, whole.root, depth + 1) ?? null])}>Add</button>}
			<Fault whole={whole} path={path} />
		</fieldset>
	);
}

// wrongAt is what is to be told of the field at a place. Whoever writes what cannot be is told at
// once; what is not written yet is wrong when somebody wants to send it.
const wrongAt = ({ told, faults }: Whole, path: string, value?: unknown) => (told || value instanceof Unread || (value !== undefined && value !== "") ? faults.get(path) : undefined);

function Fault({ whole, path, id }: { whole: Whole; path: string; id?: string }) {
	const wrong = wrongAt(whole, path, true);
	return wrong ? <p class="wrong" id={id} role="alert">{plain(wrong)}</p> : null;
}

// Simple is one field.
function Simple({ whole, schema: s, value, set, name, path = "", depth = 0, required }: One) {
	const id = useId();
	const wrong = wrongAt(whole, path, value);
	const way = wayOf(s, value, depth);
	const hint = s.description ?? (way === "json" ? "A value in JSON." : undefined);
	const common = { id, "aria-invalid": wrong ? ("true" as const) : undefined, "aria-describedby": [hint && id + "h", wrong && id + "w"].filter(Boolean).join(" ") || undefined };
	const head = <label for={id}>{plain(name)}{!required && <span class="soft"> optional</span>}</label>;
	const foot = (
		<>
			{hint && <p class="hint" id={id + "h"}>{plain(hint)}</p>}
			{wrong && <p class="wrong" id={id + "w"} role="alert">{plain(wrong)}</p>}
		</>
	);
	const as = (control: ComponentChildren) => <div class="field">{head}{control}{foot}</div>;
	switch (way) {
		case "flag":
			return <div class="flag"><input type="checkbox" {...common} checked={value === true} onChange={(e) => set(e.currentTarget.checked)} />{head}{foot}</div>;
		case "choice":
			return as(
				<select {...common} value={String(value ?? "")} onChange={(e) => set(e.currentTarget.value || undefined)}>
					{!required && <option value="">–</option>}
					{s.enum!.map((x) => <option key={String(x)} value={String(x)}>{plain(String(x))}</option>)}
				</select>,
			);
		case "text": {
			const put = (text: string) => set(text === "" && !required ? undefined : text);
			if (s.format === "date-time") return as(<input {...common} placeholder="2026-11-30T08:00:00Z" value={(value ?? "") as string} onInput={(e) => put(e.currentTarget.value)} autocomplete="off" />);
			return as(<textarea class="text" rows={1} {...common} placeholder={s.contentEncoding} value={(value ?? "") as string} onInput={(e) => put(e.currentTarget.value)} />);
		}
		case "number":
			return as(<input inputMode="decimal" {...common} value={String(value ?? "")} onInput={(e) => set(numberOf(e.currentTarget.value))} autocomplete="off" />);
	}
	return as(<Written {...common} value={value} set={set} />);
}

// Written is a value in JSON. What is being written is the field's own until it is left: a page that
// is drawn anew meanwhile would put the old value in its place.
function Written({ value, set, ...common }: { value: unknown; set: (v: unknown) => void; id: string }) {
	const [draft, write] = useState<string>();
	const known = value === undefined ? "" : value instanceof Unread ? value.text : written(value);
	const leave = (text: string) => {
		write(undefined);
		set(valueOf(text));
	};
	return <textarea {...common} rows={2} class="low" value={draft ?? known} onInput={(e) => write(e.currentTarget.value)} onChange={(e) => leave(e.currentTarget.value)} spellcheck={false} />;
}
