import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Event, Problem } from "../api";
import { useAnswer } from "../answer";
import { call, problemOf } from "../client";

// The list of events has payloads of so many bytes: it shows no more of one in a line. Larger ones
// are read when somebody looks at them.
export const payloadMax = 200;

// useWhole is an event with its payload.
export function useWhole(run: string, generation: number | undefined, e: Event | undefined): { event?: Event; problem?: Problem; again: () => void } {
	const missing = e?.left_out ? { path: { run }, query: { generation, after: e.seq - 1, limit: 1 } } : undefined;
	const whole = useAnswer("GET /runs/{run}/history", missing);
	return e?.left_out ? { event: whole.answer?.[0], problem: whole.problem, again: whole.again } : { event: e, again: whole.again };
}

// Known is a generation's history as far as the page knows it.
export interface Known {
	events: Event[]; // a list that grows: version says when
	version: number;
	loaded?: number; // number of the last event that was there when it was read; what comes later is heard
	problem?: Problem;
	loading: boolean;
	again: () => void;
	heard: (id: string, e: Event) => void; // an event of the run's stream, and which one it is
}

// useHistory reads a generation of a run. What it reads without one is the present one; present
// says which that is, as soon as the page knows.
export function useHistory(run: string, generation: number | undefined, present: number | undefined): Known {
	const events = useRef<Event[]>([]);
	const [known, set] = useState<{ version: number; loaded?: number; problem?: Problem; loading: boolean }>({ version: 0, loading: true });
	const stop = useRef<AbortController | undefined>(undefined);
	const again = useCallback(() => {
		stop.current?.abort();
		const mine = (stop.current = new AbortController());
		set((k) => ({ ...k, loading: true }));
		call("GET /runs/{run}/history", { path: { run }, query: { generation, payload_bytes: payloadMax }, signal: mine.signal }).then(
			(list) => {
				if (mine.signal.aborted) return;
				events.current = list;
				set((k) => ({ version: k.version + 1, loaded: list.at(-1)?.seq ?? 0, loading: false }));
			},
			(e) => {
				if (!mine.signal.aborted) set((k) => ({ ...k, problem: problemOf(e), loading: false }));
			},
		);
	}, [run, generation]);
	useEffect(() => {
		events.current = [];
		again();
		return () => stop.current?.abort();
	}, [again]);
	const was = useRef(present);
	useEffect(() => {
		if ((generation === undefined) && was.current !== undefined && was.current !== present) again();
		was.current = present;
	}, [present]);
	// Many events are one look: a run that is busy has hundreds in a second.
	const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
	useEffect(() => () => clearTimeout(timer.current), []);
	const heard = (id: string, e: Event) => {
		const last = events.current.at(-1)?.seq ?? 0;
		// One looks at the past, or at what the page will know of soon, or knows the event.
		if ((generation !== undefined && generation !== present) || Number(id.split(".")[0]) !== present || e.seq <= last) return;
		if (e.seq > last + 1) return again();
		events.current.push(e);
		timer.current ??= setTimeout(() => {
			timer.current = undefined;
			set((k) => ({ ...k, version: k.version + 1 }));
		}, 200);
	};
	return { events: events.current, ...known, again, heard };
}
