import { useEffect } from "preact/hooks";

// Keys do something anywhere on a page but where one types: one letter, or g and another one.
export interface Key {
	does: string;
	act: () => void;
}

const layers = new Map<string, Record<string, Key>>();

// known lists the keys that do something now, for the help.
export const known = () => [...layers.values()].flatMap((keys) => Object.entries(keys).map(([key, k]) => ({ key, does: k.does })));

// useKeys makes keys do something as long as the part that calls it is shown.
export function useKeys(name: string, keys: Record<string, Key>) {
	useEffect(() => {
		layers.set(name, keys);
		return () => {
			if (layers.get(name) === keys) layers.delete(name);
		};
	});
}

// A first key waits for the second one so long.
const waitMs = 1500;
let first = "";
let since = 0;

addEventListener("keydown", (e) => {
	const at = e.target as HTMLElement;
	if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || at.isContentEditable || document.querySelector("dialog[open]")) return;
	if (/^(TEXTAREA|SELECT)$/.test(at.tagName) || (at.tagName === "INPUT" && !/^(checkbox|radio|button)$/.test((at as HTMLInputElement).type))) return;
	const pressed = (Date.now() - since < waitMs && first ? first + " " : "") + e.key;
	first = "";
	for (const keys of [...layers.values()].reverse()) {
		if (keys[pressed]) {
			e.preventDefault();
			keys[pressed].act();
			return;
		}
	}
	if ([...layers.values()].some((keys) => Object.keys(keys).some((k) => k.startsWith(e.key + " ")))) {
		first = e.key;
		since = Date.now();
	}
});
