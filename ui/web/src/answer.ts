import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Operations, Problem } from "./api";
import { type Asked, call, problemOf } from "./client";

// Answer is what a page knows of an operation that reads.
export interface Answer<T> {
	answer?: T;
	problem?: Problem;
	loading: boolean;
	// again asks again. What is known stays on the page until the answer is there, which may be so many
	// seconds old, if it is a number. Without one it is as things are now.
	again: (old?: unknown) => void;
}

// useAnswer asks an operation, and again whenever what it is asked changes. Undefined asks nothing.
export function useAnswer<O extends keyof Operations>(op: O, o: Omit<Asked<O>, "signal" | "body" | "old"> | undefined): Answer<Operations[O]["answer"]> {
	const asked = o && JSON.stringify(o);
	const [known, set] = useState<{ asked?: string; answer?: Operations[O]["answer"]; problem?: Problem; loading: boolean }>({ loading: asked !== undefined });
	const flight = useRef<{ stop: AbortController; more: boolean } | undefined>(undefined);
	const again = useCallback((old?: unknown) => {
		if (asked === undefined) return;
		// Changes come faster than answers: one question is under way, and at most one is due after it.
		if (flight.current) {
			flight.current.more = true;
			return;
		}
		const mine = (flight.current = { stop: new AbortController(), more: false });
		set((k) => ({ ...k, loading: true }));
		const ended = (what: { answer?: Operations[O]["answer"]; problem?: Problem }) => {
			if (flight.current !== mine) return;
			flight.current = undefined;
			set((k) => {
				const before = k.asked === asked ? k.answer : undefined;
				return { problem: what.problem, answer: what.answer === undefined ? before : kept(before, what.answer), asked, loading: false };
			});
			if (mine.more) again();
		};
		call(op, { ...(JSON.parse(asked) as Asked<O>), signal: mine.stop.signal, old: typeof old === "number" ? old : undefined }).then(
			(answer) => ended({ answer, problem: undefined }),
			(e) => ended({ problem: problemOf(e) }),
		);
	}, [op, asked]);
	useEffect(() => {
		again();
		return () => {
			flight.current?.stop.abort();
			flight.current = undefined;
		};
	}, [again]);
	return { answer: known.answer, problem: known.problem, loading: known.loading, again };
}

// kept returns what is new, with whatever of it is as it was before as the same object: what shows
// that needs not be drawn anew. Members of lists are the same if they have the same id.
export function kept<T>(before: unknown, is: T): T {
	if (Object.is(before, is)) return is;
	if (typeof is !== "object" || typeof before !== "object" || !is || !before || Array.isArray(is) !== Array.isArray(before)) return is;
	if (Array.isArray(is)) {
		const old = before as unknown[];
		const byID = new Map(old.map((o, i) => [idOf(o) ?? i, o]));
		const list = is.map((v, i) => kept(byID.get(idOf(v) ?? i), v));
		return (list.length === old.length && list.every((v, i) => v === old[i]) ? before : list) as T;
	}
	const old = before as Record<string, unknown>;
	const names = Object.keys(is);
	const made = Object.fromEntries(names.map((n) => [n, kept(old[n], (is as Record<string, unknown>)[n])]));
	if (names.length === Object.keys(old).length && names.every((n) => n in old && made[n] === old[n])) return before as T;
	return (Object.getPrototypeOf(is) === Object.prototype ? made : is) as T;
}

const idOf = (v: unknown) => (v as { id?: unknown } | null)?.id;
