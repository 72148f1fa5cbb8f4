import { useEffect, useRef, useState } from "preact/hooks";
import type { Operations } from "./api";
import { address, type Asked, parse } from "./client";

// A page is live by one stream of the API, and right without it: while there is no stream it looks
// by itself, seldom. A tab that nobody sees has no stream and asks nothing; when it is seen again,
// it looks at once.
const pollMs = 15_000;

// State is how a page learns of changes.
export type State = "live" | "polling" | "connecting" | "hidden" | "none";

let state: State = "none"; // of a page that shows nothing that changes
const watchers = new Set<(s: State) => void>();

function become(s: State) {
	state = s;
	for (const fn of watchers) fn(s);
}

// useLiveState is for the sign that says whether the page is live.
export function useLiveState(): State {
	const [s, set] = useState(state);
	useEffect(() => {
		watchers.add(set);
		set(state);
		return () => void watchers.delete(set);
	}, []);
	return s;
}

type Streams = { [O in keyof Operations]: keyof Operations[O]["events"] extends never ? never : O }[keyof Operations];
type Changed<O extends keyof Operations> = (name?: (keyof Operations[O]["events"] & string) | "open", data?: unknown, id?: string) => void;

// useLive listens to a stream of the API while the page is shown. changed is called for each event,
// with "open" before the first one of each connection, and without a name when the page has to look by
// itself. The first events of a connection tell how things are, so that nothing is missed that
// happened before. Undefined listens to nothing.
export function useLive<O extends Streams>(op: O, o: Pick<Asked<O>, "path" | "query"> | undefined, events: Array<keyof Operations[O]["events"] & string>, changed: Changed<O>) {
	const at = o && address(op, o);
	const fn = useRef(changed);
	fn.current = changed;
	const names = events.join();
	useEffect(() => {
		if (at === undefined) return;
		let source: EventSource | undefined;
		let timer: ReturnType<typeof setTimeout> | undefined;
		const poll = () => {
			timer = setTimeout(() => {
				fn.current();
				if (source?.readyState === EventSource.CLOSED) open(); // refused: it does not try again by itself
				else poll();
			}, pollMs);
		};
		const stop = () => {
			clearTimeout(timer);
			source?.close();
			source = undefined;
		};
		const open = () => {
			stop();
			const s = (source = new EventSource(at));
			become("connecting");
			s.onopen = () => {
				clearTimeout(timer);
				become("live");
				fn.current("open");
			};
			s.onerror = () => {
				if (source !== s) return;
				become("polling");
				clearTimeout(timer);
				poll();
			};
			for (const name of names.split(",")) s.addEventListener(name, (e) => fn.current(name as never, parse((e as MessageEvent<string>).data), (e as MessageEvent).lastEventId));
		};
		const seen = () => {
			if (document.hidden) {
				stop();
				become("hidden");
			} else if (!source) {
				open();
			}
		};
		document.addEventListener("visibilitychange", seen);
		seen();
		return () => {
			document.removeEventListener("visibilitychange", seen);
			stop();
			become("none");
		};
	}, [at, names]);
}

// soon calls fn a moment after the last call, and at the latest some moments after the first one:
// many changes are one look.
export function soon(fn: () => void, ms = 100): () => void {
	let timer: ReturnType<typeof setTimeout> | undefined;
	return () => {
		timer ??= setTimeout(() => {
			timer = undefined;
			fn();
		}, ms);
	};
}

// paced calls fn at once, and then again at most every so often while it is asked for.
export function paced(fn: () => void, ms: number): () => void {
	let last = -Infinity;
	let timer: ReturnType<typeof setTimeout> | undefined;
	const call = () => {
		timer = undefined;
		last = performance.now();
		fn();
	};
	return () => {
		timer ??= setTimeout(call, Math.max(0, last + ms - performance.now()));
	};
}
