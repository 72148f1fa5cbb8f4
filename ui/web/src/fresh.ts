import { useRef } from "preact/hooks";
import type { Operations } from "./api";
import { soon, useLive } from "./live";

type Name = keyof Operations["GET /events"]["events"] & string;

// useFresh asks again what a page shows whenever one of some things of the store has changed. A
// page that does not list runs listens to the newest one: it changes with most that happens.
export function useFresh(names: Name[], again: () => void, ms = 300) {
	const fn = useRef(again);
	fn.current = again;
	const look = useRef(soon(() => fn.current(), ms)).current;
	const known = useRef<Set<string> | undefined>(undefined);
	useLive("GET /events", { query: { limit: 1 } }, names, (name) => {
		if ((name as string) === "open") {
			// What has happened before the first connection is what the page has just asked.
			if (known.current) look();
			known.current = new Set();
		} else if (name && known.current && !known.current.has(name)) known.current.add(name); // how things are
		else look();
	});
}
