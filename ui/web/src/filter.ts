// What the page knows of the filter language: enough to complete what one types, and to change its
// order. The server parses it; docs/finding-runs.md has the grammar.

export interface Token {
	kind: "word" | "text" | "number" | "sign" | "other";
	text: string; // as it is written
	from: number;
	to: number;
	open?: boolean; // a text without its closing quote
}

const pattern = /\s+|[A-Za-z_][\w.-]*|[\d+-][\w.:+-]*|"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|!=|<=|>=|[=<>(),]|./gsu;

// tokens cuts a text into its pieces. Nothing is wrong: what is no piece is "other".
export function tokens(text: string): Token[] {
	const list: Token[] = [];
	for (const m of text.matchAll(pattern)) {
		const t = m[0];
		if (/^\s/.test(t)) continue;
		const quote = t[0] === '"' || t[0] === "'" ? t[0] : "";
		const kind = quote ? "text" : /^[A-Za-z_]/.test(t) ? "word" : /^[\d+-]/.test(t) ? "number" : /^[!<>=(),]/.test(t) ? "sign" : "other";
		list.push({ kind, text: t, from: m.index, to: m.index + t.length, open: quote ? t.length < 2 || !t.endsWith(quote) || /\\["']$/.test(t) : undefined });
	}
	return list;
}

// Field is what a condition may be about.
interface Field {
	type: "text" | "id" | "status" | "number" | "time" | "duration";
	hint: string;
	optional?: boolean;
}

export const fields: Record<string, Field> = {
	status: { type: "status", hint: "open, failed, blocked …" },
	workflow: { type: "text", hint: "name of the workflow" },
	created: { type: "time", hint: "when it was started" },
	closed: { type: "time", hint: "when it ended", optional: true },
	duration: { type: "duration", hint: "from start to end", optional: true },
	key: { type: "text", hint: "the caller's name for it", optional: true },
	queue: { type: "text", hint: "whose nodes execute it" },
	"error.class": { type: "text", hint: "type of its failure", optional: true },
	waiting: { type: "text", hint: "what it waits for", optional: true },
	version: { type: "number", hint: "of the workflow" },
	priority: { type: "number", hint: "1, the most urgent, to 5" },
	started: { type: "time", hint: "when its code could begin" },
	deadline: { type: "time", hint: "when its time is up", optional: true },
	generation: { type: "number", hint: "1, and one more for each restart" },
	node: { type: "number", hint: "number of its node", optional: true },
	parent: { type: "id", hint: "the run that waits for it", optional: true },
	id: { type: "id", hint: "of the run" },
};

export const statuses = ["open", "completed", "failed", "cancelled", "terminated", "blocked", "quarantined", "paused", "limited"];
export const orders = ["created", "closed", "duration"];

const operators: Record<Field["type"] | "label", string[]> = {
	text: ["=", "!=", "in", "starts with"],
	id: ["=", "in"],
	status: ["=", "!=", "in"],
	number: ["=", "!=", ">", ">=", "<", "<=", "between", "in"],
	time: [">", "<", ">=", "<=", "between"],
	duration: [">", "<", ">=", "<=", "between"],
	label: ["=", "!=", "in", "starts with", ">", "<", ">=", "<=", "between", "is set", "is not set"],
};

// Offer is what could stand at a place of a text.
export interface Offer {
	text: string;
	hint?: string;
}

// Offers are what could stand from one place to another.
export interface Offers {
	from: number;
	to: number;
	list: Offer[];
}

// Known returns values that runs have for a field or a label, and the names of labels for "label.".
export type Known = (name: string) => string[];

// quote makes a text a value of the language.
export const quote = (text: string) => '"' + text.replace(/[\\"]/g, "\\$&").replace(/\n/g, "\\n").replace(/\t/g, "\\t") + '"';

const isLabelWord = (name: string) => /^[A-Za-z_][\w.-]*$/.test(name);

// nameOf is a label as a condition names it: a word, unless it is none, or could be a field.
export const nameOf = (label: string) => (isLabelWord(label) ? (fields[label] ? "label." + label : label) : "label." + quote(label));

// place is where one is in the grammar behind some tokens.
type Place = { at: "condition" | "operator" | "value" | "list" | "in" | "next" | "between" | "is" | "is not" | "starts" | "order" | "by" | "direction" | "end"; field?: string; list?: boolean; pair?: boolean };

function placeBehind(list: Token[]): Place {
	let p: Place = { at: "condition" };
	for (const t of list) {
		const word = t.kind === "word" ? t.text.toLowerCase() : t.text;
		switch (p.at) {
			case "condition":
				if (word === "not" || word === "(") break;
				p = word === "order" ? { at: "order" } : { at: "operator", field: t.text };
				break;
			case "operator":
				if (p.field === "label." && t.kind === "text") p = { at: "operator", field: "label." + t.text };
				else if (word === "in") p = { at: "in", field: p.field };
				else if (word === "between") p = { at: "value", field: p.field, pair: true };
				else if (word === "starts") p = { at: "starts", field: p.field };
				else if (word === "is") p = { at: "is", field: p.field };
				else p = { at: "value", field: p.field };
				break;
			case "in":
				p = { at: "value", field: p.field, list: true };
				break;
			case "starts":
				p = { at: "value", field: p.field };
				break;
			case "is":
				p = word === "not" ? { at: "is not" } : { at: "next" };
				break;
			case "is not":
				p = { at: "next" };
				break;
			case "value":
				p = p.pair ? { at: "between", field: p.field } : p.list ? { at: "list", field: p.field } : { at: "next" };
				break;
			case "between":
				p = { at: "value", field: p.field };
				break;
			case "list":
				p = word === "," ? { at: "value", field: p.field, list: true } : { at: "next" };
				break;
			case "next":
				p = word === "order" ? { at: "order" } : word === ")" ? p : { at: "condition" };
				break;
			case "order":
				p = { at: "by" };
				break;
			case "by":
				p = { at: "direction" };
				break;
			case "direction":
				p = { at: "end" };
		}
	}
	return p;
}

const offersOf = (list: string[], hint?: string): Offer[] => list.map((text) => ({ text, hint }));

function expected(p: Place, known: Known): Offer[] {
	const field = fields[p.field ?? ""];
	switch (p.at) {
		case "condition":
			return [...Object.entries(fields).map(([text, f]) => ({ text, hint: f.hint })), ...known("label.").map((l) => ({ text: nameOf(l), hint: "label" })), { text: "not" }];
		case "operator":
			return offersOf([...operators[field?.type ?? "label"], ...(field?.optional ? ["is set", "is not set"] : [])]);
		case "in":
			return [{ text: "(" }];
		case "value":
			return valuesOf(p.field ?? "", field, known);
		case "list":
			return offersOf([",", ")"]);
		case "between":
			return [{ text: "and" }];
		case "is":
			return offersOf(["set", "not set"]);
		case "is not":
			return [{ text: "set" }];
		case "starts":
			return [{ text: "with" }];
		case "next":
			return offersOf(["and", "or", "order by"]);
		case "order":
			return [{ text: "by" }];
		case "by":
			return offersOf(orders);
		case "direction":
			return [{ text: "desc", hint: "the latest or longest first" }, { text: "asc", hint: "the earliest or shortest first" }];
		default:
			return [];
	}
}

function valuesOf(name: string, field: Field | undefined, known: Known): Offer[] {
	switch (field?.type) {
		case "status":
			return offersOf(statuses);
		case "time":
			return [{ text: "-1h", hint: "an hour ago" }, { text: "-1d", hint: "a day ago" }, { text: "-7d", hint: "a week ago" }, { text: "now" }, { text: new Date().toISOString().slice(0, 10), hint: "today, in UTC" }];
		case "duration":
			return offersOf(["1s", "1m", "1h", "1d"]);
		case "number":
			return offersOf(known(name));
		case "text":
		case "id":
			return offersOf(known(name).map(quote));
		default:
			return offersOf(known(name.replace(/^label\./, "").replace(/^"(.*)"$/, "$1")).map(quote));
	}
}

const offersMax = 12;

// complete says what could stand at a place of a text, instead of the piece that ends there.
export function complete(text: string, at: number, known: Known): Offers {
	const before = tokens(text.slice(0, at));
	const last = before.at(-1);
	// A piece that one is still writing: it touches the place, and it is not done.
	const writing = last && last.to === at && (last.kind !== "text" || last.open) && last.kind !== "sign" ? last : undefined;
	const typed = writing ? writing.text : "";
	const all = expected(placeBehind(writing ? before.slice(0, -1) : before), known);
	const bare = typed.replace(/^["']/, "").toLowerCase();
	const matches = all.filter((o) => o.text !== typed && o.text.replace(/^["']/, "").toLowerCase().startsWith(bare));
	const within = bare.length > 1 ? all.filter((o) => !matches.includes(o) && o.text !== typed && o.text.toLowerCase().includes(bare)) : [];
	return { from: writing ? writing.from : at, to: at, list: [...matches, ...within].slice(0, offersMax) };
}

// insert puts an offer into a text, with the spaces around it that are needed, and says where one
// goes on to write.
export function insert(text: string, o: Offers, offer: string): { text: string; at: number } {
	const before = text.slice(0, o.from);
	const after = text.slice(o.to).replace(/^\s+/, "");
	const space = before && !/[\s(]$/.test(before) && offer !== "," && offer !== ")" ? " " : "";
	const head = before + space + offer + (offer === "(" ? "" : " ");
	return { text: head + after, at: head.length };
}

// Order is how runs are listed.
export interface Order {
	by: string;
	ascending: boolean;
}

// splitOrder divides a text into its condition and its order.
export function splitOrder(text: string): { where: string; order?: Order } {
	const list = tokens(text);
	const at = list.findLastIndex((t, i) => t.kind === "word" && t.text.toLowerCase() === "order" && list[i + 1]?.text.toLowerCase() === "by");
	if (at < 0) return { where: text.trim() };
	return { where: text.slice(0, list[at]!.from).trim(), order: { by: list[at + 2]?.text ?? "", ascending: list[at + 3]?.text.toLowerCase() === "asc" } };
}

// withOrder is a condition with an order.
export const withOrder = (where: string, o?: Order) => (o ? `${where} order by ${o.by}${o.ascending ? " asc" : " desc"}`.trim() : where);

// and is a condition with another one.
export function and(text: string, condition: string): string {
	const { where, order } = splitOrder(text);
	if (!where) return withOrder(condition, order);
	const needs = tokens(where).some((t) => t.kind === "word" && t.text.toLowerCase() === "or");
	return withOrder(`${needs ? `(${where})` : where} and ${condition}`, order);
}
