import type { Operations, Problem } from "./api";
import { Exact, parse } from "./exact";

export { Exact, parse };

// root is the folder that the dashboard is mounted on. The document's base says so when it is
// loaded; whatever the address becomes later, the base stays what it was.
export const root = new URL(document.baseURI);

const meta = (name: string) => document.querySelector<HTMLMetaElement>(`meta[name="reprise-${name}"]`)?.content;

export const title = meta("title") ?? "Reprise";
export const readOnly = meta("read-only") === "true";
export const asksWho = meta("asks") === "true"; // whether the API asks who may do what

// ProblemError is what a call throws that was refused, or that nobody has answered.
export class ProblemError extends Error {
	constructor(readonly problem: Problem) {
		super(problem.detail);
	}
	// kind is what programs branch on: the end of the type.
	get kind() {
		return this.problem.type.slice(this.problem.type.lastIndexOf("#") + 1);
	}
}

// problemOf makes a problem of whatever was thrown.
export function problemOf(e: unknown): Problem {
	if (e instanceof ProblemError) return e.problem;
	return { type: "#page", title: "the page has failed", status: 0, detail: e instanceof Error ? e.message : String(e), how: "reload the page" };
}

type Values = Record<string, string | number | boolean | string[] | undefined>;
type Filled<T> = { [K in keyof T]?: T[K] };

// Asked is what an operation takes.
export interface Asked<O extends keyof Operations> {
	path?: Operations[O]["path"];
	query?: Filled<Operations[O]["query"]>;
	body?: Operations[O]["body"];
	signal?: AbortSignal;
	old?: number; // how many seconds old the answer may be
}

// address is where an operation is called, from the root of the host.
export function address<O extends keyof Operations>(op: O, o: Pick<Asked<O>, "path" | "query"> = {}): string {
	const path = op.slice(op.indexOf(" ") + 1).replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent((o.path as Record<string, string>)[name] ?? ""));
	return root.pathname + "api" + path + search((o.query ?? {}) as Values);
}

// search is a query with its question mark, empty without values.
export function search(values: Values): string {
	const q = new URLSearchParams();
	for (const [name, value] of Object.entries(values)) {
		if (Array.isArray(value)) for (const v of value) q.append(name, v);
		else if (value !== undefined && value !== "" && value !== false) q.set(name, String(value));
	}
	const text = q.toString();
	return text && "?" + text;
}

// call calls an operation of the API by its name in the description.
export async function call<O extends keyof Operations>(op: O, o: Asked<O> = {}): Promise<Operations[O]["answer"]> {
	const init: RequestInit = { method: op.slice(0, op.indexOf(" ")), signal: o.signal, headers: { Accept: "application/json", ...(o.old ? { "Cache-Control": `max-age=${o.old}` } : {}) } };
	if (o.body !== undefined) {
		init.body = JSON.stringify(o.body, (_, v) => (v instanceof Exact ? raw(v.text) : v));
		init.headers = { ...init.headers, "Content-Type": "application/json" };
	}
	let response: Response;
	try {
		response = await fetch(address(op, o), init);
	} catch (e) {
		if (o.signal?.aborted) throw e;
		throw new ProblemError({ type: "#no-answer", title: "the server does not answer", status: 0, detail: e instanceof Error ? e.message : String(e), how: "ask again when the program that serves the dashboard runs" });
	}
	heard(response);
	const text = await response.text();
	if (response.ok) return parse(text) as Operations[O]["answer"];
	if (response.headers.get("Content-Type")?.startsWith("application/problem+json")) throw new ProblemError(parse(text) as Problem);
	throw new ProblemError({ type: "#foreign", title: "somebody else has answered", status: response.status, detail: `${response.status} ${response.statusText}: ${text.slice(0, 300)}`, how: "look at what stands between the browser and the dashboard" });
}

// raw puts a text into JSON as it is, in browsers that can.
function raw(text: string): unknown {
	const json = JSON as unknown as { rawJSON?: (text: string) => unknown };
	return json.rawJSON ? json.rawJSON(text) : Number(text);
}

// The server's clock is what "ago" is counted from: that of the browser may be minutes off.
let skew = 0;

function heard(r: Response) {
	const at = Date.parse(r.headers.get("Date") ?? "");
	if (!Number.isNaN(at)) {
		const off = at + 500 - Date.now(); // the header has whole seconds
		skew = Math.abs(off) > 2000 ? off : 0;
	}
}

// now is the time of the server, in milliseconds.
export const now = () => Date.now() + skew;
