import { useEffect, useState } from "preact/hooks";
import { root } from "./client";

// Place is where one is: the parts of the path below the root, decoded, and the query.
export interface Place {
	parts: string[];
	query: URLSearchParams;
}

const listeners = new Set<() => void>();

// here reads the address.
export function here(): Place {
	const path = location.pathname.startsWith(root.pathname) ? location.pathname.slice(root.pathname.length) : "";
	return { parts: path.split("/").filter(Boolean).map(decode), query: new URLSearchParams(location.search) };
}

function decode(part: string): string {
	try {
		return decodeURIComponent(part);
	} catch {
		return part; // no text that we have made
	}
}

// to is the address of a page: its parts are names of any kind, without a leading slash.
export function to(parts: string[], query?: Record<string, string | undefined>): string {
	const q = new URLSearchParams();
	for (const [name, value] of Object.entries(query ?? {})) if (value) q.set(name, value);
	const text = q.toString();
	return root.pathname + parts.map(encodeURIComponent).join("/") + (text && "?" + text);
}

// go leads to an address of ours. Replacing it leaves no way back, for what one types.
export function go(address: string, how?: "replace") {
	if (address === location.pathname + location.search) how = "replace";
	history[how ? "replaceState" : "pushState"](null, "", address);
	for (const fn of listeners) fn();
}

addEventListener("popstate", () => {
	for (const fn of listeners) fn();
});

// usePlace is where one is, and draws anew when that changes.
export function usePlace(): Place {
	const [place, set] = useState(here);
	useEffect(() => {
		const fn = () => set(here());
		listeners.add(fn);
		return () => void listeners.delete(fn);
	}, []);
	return place;
}

// followed takes a click on a link if it is an ordinary one that leads to a page of ours.
export function followed(e: MouseEvent) {
	const a = (e.target as Element).closest?.("a[href]") as HTMLAnchorElement | null;
	if (!a || e.defaultPrevented || e.button !== 0 || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey || a.target || a.hasAttribute("download")) return;
	if (a.origin !== location.origin || !a.pathname.startsWith(root.pathname) || a.pathname.startsWith(root.pathname + "api/")) return;
	e.preventDefault();
	go(a.pathname + a.search);
}
