import type { ComponentType } from "preact";

// Page is a page of the dashboard. Each has a file in pages/, which exports one as page, and a line
// in pages/index.ts.
export interface Page {
	// path below the root. A part that begins with a colon is a name of any kind: "runs/:run".
	path: string;
	title: string;
	// key is the second letter of the keys that lead here, after g. A page without one is not in the
	// navigation.
	key?: string;
	view: ComponentType<{ params: Record<string, string> }>;
}

// find returns the page of a path and what the path names.
export function find(pages: Page[], parts: string[]): { page: Page; params: Record<string, string> } | undefined {
	for (const page of pages) {
		const pattern = page.path.split("/").filter(Boolean);
		if (pattern.length !== parts.length) continue;
		const params: Record<string, string> = {};
		if (pattern.every((p, i) => (p.startsWith(":") ? ((params[p.slice(1)] = parts[i]!), true) : p === parts[i]))) return { page, params };
	}
	return undefined;
}
