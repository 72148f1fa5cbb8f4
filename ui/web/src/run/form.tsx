import { useId } from "preact/hooks";
import { Exact, parse } from "../client";
import { written } from "../parts/payload";
import { plain } from "../parts/text";

// Schema is the part of JSON Schema that Go types make.
export interface Schema {
	$ref?: string;
	$defs?: Record<string, Schema>;
	type?: string | string[];
	properties?: Record<string, Schema>;
	required?: string[];
	items?: Schema | boolean;
	enum?: unknown[];
	const?: unknown;
	format?: string;
	title?: string;
	description?: string;
	contentEncoding?: string;
}

// How deep a form goes: what is below is written as JSON.
const depthMax = 4;

// blank is a value to begin with.
export function blank(s: Schema, root = s, depth = 0): unknown {
	s = resolve(s, root);
	switch (kindOf(s)) {
		case "object": {
			const v: Record<string, unknown> = {};
			if (depth < depthMax) for (const [name, p] of Object.entries(s.properties ?? {})) if (s.required?.includes(name)) v[name] = blank(p, root, depth + 1);
			return v;
		}
		case "array":
			return [];
		case "string":
			return s.enum ? s.enum[0] : "";
		case "number":
		case "integer":
			return 0;
		case "boolean":
			return false;
	}
	return null;
}

function resolve(s: Schema, root: Schema): Schema {
	for (let i = 0; s.$ref && i < 16; i++) {
		const name = s.$ref.replace(/^#\/\$defs\//, "");
		const to = s.$ref === "#" ? root : root.$defs?.[name];
		if (!to) return {};
		s = to;
	}
	return s;
}

// kindOf is the type of what is meant, or empty for what only JSON can say.
function kindOf(s: Schema): string {
	const types = (Array.isArray(s.type) ? s.type : [s.type ?? (s.properties ? "object" : "")]).filter((t) => t !== "null");
	return types.length === 1 ? types[0]! : "";
}

// Form is a value's fields, as its type has them. set gets the value anew.
export function Form({ schema, root, value, set, name, required, depth = 0 }: { schema: Schema; root: Schema; value: unknown; set: (v: unknown) => void; name: string; required?: boolean; depth?: number }) {
	const id = useId();
	const s = resolve(schema, root);
	const kind = kindOf(s);
	const head = <label for={id}>{plain(s.title ?? name)}{required && <span class="soft"> required</span>}</label>;
	const hint = s.description && <p class="hint" id={id + "h"}>{plain(s.description)}</p>;
	const common = { id, "aria-describedby": s.description ? id + "h" : undefined };
	if (kind === "object" && s.properties && depth < depthMax && (value === null || value === undefined || (typeof value === "object" && !Array.isArray(value)))) {
		const object = (value ?? {}) as Record<string, unknown>;
		return (
			<fieldset class="object" data-depth={depth}>
				<legend>{depth === 0 ? <span class="hidden">{plain(name)}</span> : plain(s.title ?? name)}</legend>
				{hint}
				{Object.entries(s.properties).map(([field, p]) => (
					<Form key={field} schema={p} root={root} name={field} required={s.required?.includes(field)} depth={depth + 1} value={object[field]}
						set={(v) => { const next = { ...object }; if (v === undefined) delete next[field]; else next[field] = v; set(next); }} />
				))}
				{Object.keys(s.properties).length === 0 && <p class="hint">It has no fields.</p>}
			</fieldset>
		);
	}
	if (kind === "array" && s.items && s.items !== true && depth < depthMax && (value === null || value === undefined || Array.isArray(value))) {
		const list = (value ?? []) as unknown[];
		return (
			<fieldset class="object" data-depth={depth}>
				<legend>{plain(s.title ?? name)}</legend>
				{hint}
				{list.map((x, i) => (
					<div class="element" key={i}>
						<Form schema={s.items as Schema} root={root} name={`${name} ${i + 1}`} depth={depth + 1} value={x} set={(v) => set(list.map((y, j) => (j === i ? (v === undefined ? null : v) : y)))} />
						<button type="button" class="quiet" aria-label={`Remove ${name} ${i + 1}`} onClick={() => set(list.filter((_, j) => j !== i))}>✕</button>
					</div>
				))}
				<button type="button" class="quiet" onClick={() => set([...list, blank(s.items as Schema, root)])}>Add</button>
			</fieldset>
		);
	}
	if (kind === "boolean") return <div class="flag"><input type="checkbox" {...common} checked={value === true} onChange={(e) => set(e.currentTarget.checked)} />{head}{hint}</div>;
	if (s.enum && s.enum.every((x) => typeof x === "string")) return <div class="field">{head}<select {...common} value={String(value ?? "")} onChange={(e) => set(e.currentTarget.value || (required ? "" : undefined))}>{(!required || !s.enum.includes(value as string)) && <option value="">–</option>}{s.enum.map((x) => <option key={String(x)} value={String(x)}>{plain(String(x))}</option>)}</select>{hint}</div>;
	if (kind === "string" && (value === undefined || value === null || typeof value === "string")) {
		return <div class="field">{head}<textarea class="text" rows={1} {...common} placeholder={s.format === "date-time" ? "2026-11-30T08:00:00Z" : s.contentEncoding} value={(value as string | null | undefined) ?? ""} onInput={(e) => set(e.currentTarget.value === "" && !required ? undefined : e.currentTarget.value)} />{hint}</div>;
	}
	if (kind === "integer" || kind === "number") {
		return <div class="field">{head}<input inputMode="decimal" {...common} value={value === undefined || value === null ? "" : String(value)} onChange={(e) => set(numberOf(e.currentTarget.value, required))} autocomplete="off" />{hint}</div>;
	}
	return <div class="field">{head}<textarea {...common} rows={2} value={value === undefined ? "" : written(value)} onChange={(e) => set(valueOf(e.currentTarget.value))} spellcheck={false} />{hint ?? <p class="hint">A value in JSON.</p>}</div>;
}

// numberOf keeps what a browser's numbers cannot hold as it is written. What is no number stays a
// text, which the handler refuses by its name.
function numberOf(text: string, required?: boolean): unknown {
	const t = text.trim();
	if (t === "") return required ? 0 : undefined;
	if (!/^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(t)) return t;
	return /^-?\d{16,}$/.test(t) ? new Exact(t) : Number(t);
}

function valueOf(text: string): unknown {
	if (!text.trim()) return undefined;
	try {
		return parse(text);
	} catch {
		return text;
	}
}
