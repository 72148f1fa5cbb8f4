import { useCallback, useMemo, useRef, useState } from "preact/hooks";
import type { Run, Served } from "../api";
import { call } from "../client";
import type { Known } from "../filter";
import { wordOf } from "../parts/badge";

// useKnown is what filters and forms offer: what nodes serve, and what the newest runs and those on
// the page have. It is asked for when somebody begins to write, once.
export function useKnown(shown: Run[]): { known: Known; begin: () => void; served: Served[] } {
	const [seen, setSeen] = useState<{ runs: Run[]; served: Served[] }>({ runs: [], served: [] });
	const begun = useRef(false);
	const begin = useCallback(() => {
		if (begun.current) return;
		begun.current = true;
		// What cannot be had is not offered: the page itself says what is wrong.
		void Promise.allSettled([call("GET /runs", { query: { limit: 50 } }), call("GET /workflows")]).then(([runs, served]) =>
			setSeen({ runs: runs.status === "fulfilled" ? runs.value.runs : [], served: served.status === "fulfilled" ? served.value : [] }),
		);
	}, []);
	const known = useMemo(() => {
		const runs = [...shown, ...seen.runs];
		const cache = new Map<string, string[]>();
		return (name: string) => {
			let list = cache.get(name);
			if (!list) cache.set(name, (list = [...new Set(valuesOf(name, runs, seen.served))].filter(Boolean).sort()));
			return list;
		};
	}, [shown, seen]);
	return { known, begin, served: seen.served };
}

function valuesOf(name: string, runs: Run[], served: Served[]): string[] {
	switch (name) {
		case "label.":
			return runs.flatMap((r) => Object.keys(r.labels ?? {}));
		case "workflow":
			return [...runs.map((r) => r.workflow), ...served.map((s) => s.workflow)];
		case "queue":
			return [...runs.map((r) => r.queue), ...served.map((s) => s.queue)];
		case "key":
			return runs.map((r) => r.key ?? "");
		case "version":
		case "generation":
		case "priority":
		case "node":
			return runs.map((r) => String(r[name] ?? ""));
		case "status":
			return runs.map(wordOf);
		case "waiting":
			return runs.flatMap((r) => r.waiting ?? []).map((w) => w.replace(/ \d{4}-\d\d-\d\dT.*$/, ""));
		case "error.class":
			return runs.filter((r) => r.status === "failed").flatMap((r) => /^([\w.*/]+): /.exec(r.problem ?? "")?.[1] ?? []);
		case "id":
		case "parent":
			return runs.map((r) => (name === "id" ? r.id : (r.parent ?? "")));
		default:
			return runs.map((r) => r.labels?.[name] ?? "");
	}
}
