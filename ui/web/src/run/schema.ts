import { Exact, parse } from "../client";

// Schema is the part of JSON Schema that Go types make, and what programs of others add to it.
export interface Schema {
	$ref?: string;
	$defs?: Record<string, Schema>;
	type?: string | string[];
	properties?: Record<string, Schema>;
	additionalProperties?: Schema | boolean;
	required?: string[];
	items?: Schema | boolean;
	minimum?: number;
	maxItems?: number;
	enum?: unknown[];
	format?: string;
	title?: string;
	description?: string;
	contentEncoding?: string;
	"x-order"?: string[]; // the fields of a Go type, if required does not have them all
}

// fieldsOf are the fields of an object in the order of its type; JSON does not keep that of
// properties. What is listed nowhere comes last.
export function fieldsOf(s: Schema): Array<[string, Schema]> {
	const order = s["x-order"] ?? s.required ?? [];
	const at = (name: string) => (order.includes(name) ? order.indexOf(name) : order.length);
	return Object.entries(s.properties ?? {}).sort(([a], [b]) => at(a) - at(b));
}

// How deep a form goes: what is below is written as JSON. A type that is inside itself ends here.
const depthMax = 4;

// Unread is what somebody has written into a field that cannot be what its type has. It stays as it
// is written until it is mended, and keeps the form from being sent.
export class Unread {
	constructor(readonly text: string) {}
	toString() {
		return this.text;
	}
	toJSON() {
		return this.text;
	}
}

export function resolve(s: Schema, root: Schema): Schema {
	for (let i = 0; s.$ref && i < 16; i++) {
		const name = s.$ref.replace(/^#\/\$defs\//, "");
		const to = s.$ref === "#" ? root : root.$defs?.[name];
		if (!to) return {};
		s = to;
	}
	return s.$ref ? {} : s;
}

// kindOf is the type of what is meant, or empty for what only JSON can say.
export function kindOf(s: Schema): string {
	const types = (Array.isArray(s.type) ? s.type : [s.type ?? (s.properties ? "object" : "")]).filter((t) => t !== "null");
	return types.length === 1 ? types[0]! : "";
}

// Way is how a value is written in a form.
export type Way = "object" | "array" | "flag" | "choice" | "text" | "number" | "json";

const isObject = (v: unknown) => typeof v === "object" && !!v && !Array.isArray(v) && !(v instanceof Exact) && !(v instanceof Unread);

// wayOf is how a value is written. One that is not of its type is written as JSON, and is wrong.
export function wayOf(s: Schema, value: unknown, depth: number): Way {
	const none = value === null || value === undefined;
	const kind = kindOf(s);
	if (kind === "object" && s.properties && depth < depthMax && (none || isObject(value))) return "object";
	if (kind === "array" && s.items && s.items !== true && depth < depthMax && (none || Array.isArray(value))) return "array";
	if (kind === "boolean" && (none || typeof value === "boolean")) return "flag";
	if (kind === "string" && (none || typeof value === "string")) return s.enum?.every((x) => typeof x === "string") ? "choice" : "text";
	if ((kind === "integer" || kind === "number") && (none || typeof value === "number" || value instanceof Exact || value instanceof Unread)) return "number";
	return "json";
}

// blank is a value to begin with: what has to be there, and nothing else.
export function blank(schema: Schema, root = schema, depth = 0): unknown {
	const s = resolve(schema, root);
	switch (wayOf(s, undefined, depth)) {
		case "object": {
			const v: Record<string, unknown> = {};
			for (const [name, p] of fieldsOf(s)) {
				if (!s.required?.includes(name)) continue;
				const begin = blank(p, root, depth + 1);
				if (begin !== undefined) v[name] = begin;
			}
			return v;
		}
		case "array":
			return [];
		case "choice":
			return s.enum![0];
		case "text":
			return "";
		case "number":
			return 0;
		case "flag":
			return false;
	}
	return undefined;
}

// numberOf reads a number, and keeps what a browser's numbers cannot hold as it is written.
export function numberOf(text: string): unknown {
	const t = text.trim();
	if (t === "") return undefined;
	if (!/^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(t)) return new Unread(text);
	return String(Number(t)) === t ? Number(t) : new Exact(t);
}

// valueOf reads JSON.
export function valueOf(text: string): unknown {
	if (!text.trim()) return undefined;
	try {
		return parse(text);
	} catch {
		return new Unread(text);
	}
}

const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

// below is the place of a field or an element in a value.
export const below = (path: string, name: string | number) => `${path}/${String(name).replace(/~/g, "~0").replace(/\//g, "~1")}`;

// faultsOf says what is wrong with a value, by the places of the fields that it is written in.
export function faultsOf(root: Schema, value: unknown): Map<string, string> {
	const faults = new Map<string, string>();
	// inside is what leads from the field to what is wrong in it, where the field holds more than that.
	const look = (schema: Schema, v: unknown, required: boolean, path: string, depth: number, inside?: string) => {
		const s = resolve(schema, root);
		const say = (text: string) => faults.has(path) || faults.set(path, inside ? `${inside}: ${text}` : text);
		const kind = kindOf(s);
		if (v === undefined) {
			if (required && (kind === "integer" || kind === "number")) say("A number has to be here.");
			return;
		}
		if (v === null) return; // which Go takes for nothing, whatever the type
		if (v instanceof Unread) return void say(kind === "integer" || kind === "number" ? "This is no number." : "This is no JSON.");
		const way = inside === undefined ? wayOf(s, v, depth) : "json";
		const into = (of: Schema, x: unknown, need: boolean, name: string | number) =>
			way === "json" ? look(of, x, need, path, depth, inside ? `${inside}.${name}` : String(name)) : look(of, x, need, below(path, name), depth + 1);
		if (s.enum && !s.enum.some((x) => x === v) && typeof v !== "object") return void say(`This is none of ${s.enum.map((x) => JSON.stringify(x)).join(", ")}.`);
		switch (kind) {
			case "string":
				if (typeof v !== "string") return void say("This is to be a text.");
				if (s.format === "date-time" && !(time.test(v) && !Number.isNaN(Date.parse(v)))) return void say("This is no time such as 2026-11-30T08:00:00Z.");
				if (s.contentEncoding === "base64" && !/^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(v)) return void say("This is not in base64.");
				return;
			case "integer":
			case "number":
				if (typeof v !== "number" && !(v instanceof Exact)) return void say("This is to be a number.");
				if (kind === "integer" && !/^-?\d+$/.test(String(v))) return void say("This is no whole number.");
				if (s.minimum !== undefined && Number(v) < s.minimum) return void say(`This is less than ${s.minimum}.`);
				return;
			case "boolean":
				if (typeof v !== "boolean") say("This is to be true or false.");
				return;
			case "array":
				if (!Array.isArray(v)) return void say("This is to be a list, in square brackets.");
				if (s.maxItems !== undefined && v.length > s.maxItems) say(`These are more than ${s.maxItems}.`);
				if (s.items && s.items !== true) for (const [i, x] of v.entries()) into(s.items, x, true, way === "json" ? i + 1 : i);
				return;
			case "object":
				if (!isObject(v)) return void say("This is to be an object, in curly brackets.");
				for (const [name, p] of Object.entries(s.properties ?? {})) into(p, (v as Record<string, unknown>)[name], way !== "json" && !!s.required?.includes(name), name);
				if (typeof s.additionalProperties === "object" && !s.properties) for (const [name, x] of Object.entries(v as object)) into(s.additionalProperties, x, true, name);
		}
	};
	look(root, value, true, "", 0);
	return faults;
}
