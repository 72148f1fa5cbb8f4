import { useEffect, useState } from "preact/hooks";
import { asksWho, call, readOnly } from "./client";

// About is what a verb is about, if it is about no single run: a workflow, a version of it, a queue.
export interface About {
	workflow?: string;
	version?: number;
	queue?: string;
}

// What the API has told is kept so long: many buttons ask the same.
const keptMs = 30_000;
const told = new Map<string, { at: number; verbs: Promise<ReadonlySet<string>> }>();

function ask(key: string): Promise<ReadonlySet<string>> {
	const known = told.get(key);
	if (known && Date.now() - known.at < keptMs) return known.verbs;
	const verbs = call("GET /may", { query: JSON.parse(key) as About }).then(
		(m) => new Set(m.verbs),
		() => {
			told.delete(key);
			return new Set<string>();
		},
	);
	told.set(key, { at: Date.now(), verbs });
	return verbs;
}

// useMay tells which verbs the API would not refuse. What is not known yet is not offered. A
// dashboard that asks nobody offers everything, and one that only shows nothing.
export function useMay({ workflow, version, queue }: About = {}): (verb: string) => boolean {
	const key = JSON.stringify({ workflow, version, queue });
	const [verbs, set] = useState<ReadonlySet<string>>();
	useEffect(() => {
		if (!asksWho || readOnly) return;
		let gone = false;
		void ask(key).then((v) => gone || set(v));
		return () => {
			gone = true;
		};
	}, [key]);
	return (verb) => !readOnly && (!asksWho || !!verbs?.has(verb));
}
