import { useEffect, useRef } from "preact/hooks";
import type { Operations } from "./api";
import { soon, useLive } from "./live";

type Name = keyof Operations["GET /events"]["events"] & string;

// What a stream does not tell, such as a change of a run that is on no first page, is seen so much
// later. All that look late share answers, which are younger than that, and without a stream of a few seconds.
const lateMs = 60_000;
const lateOld = 50;
const pollOld = 10;

// useFresh asks again what a page shows when some things of the store have changed, at most every
// so often. The runs are the newest of those that a filter selects. The first events of a stream
// tell how things are: they may have changed since the page has asked, so it asks again then too.
export function useFresh(names: Name[], again: (old?: number) => void, o: { where?: string; limit?: number; ms?: number } = {}) {
	const fn = useRef(again);
	fn.current = again;
	const look = useRef(soon(() => fn.current(), o.ms ?? 300)).current;
	useLive("GET /events", { query: { limit: o.limit ?? 50, where: o.where } }, names, (name) => (name ? look() : fn.current(pollOld)));
	useEffect(() => {
		const late = setInterval(() => document.hidden || fn.current(lateOld), lateMs);
		return () => clearInterval(late);
	}, []);
}
