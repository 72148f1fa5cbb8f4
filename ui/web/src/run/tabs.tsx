import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";

export interface Tab {
	id: string;
	title: string;
	count?: number;
}

// Tabs show one part of many. The arrow keys lead from one to the next.
export function Tabs({ tabs, at, to, children }: { tabs: Tab[]; at: string; to: (id: string) => void; children: ComponentChildren }) {
	const box = useRef<HTMLDivElement>(null);
	const known = tabs.some((t) => t.id === at) ? at : tabs[0]!.id;
	const keys = (e: KeyboardEvent) => {
		const i = tabs.findIndex((t) => t.id === known);
		const next: Record<string, number> = { ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: tabs.length - 1 };
		if (next[e.key] === undefined) return;
		e.preventDefault();
		const tab = tabs[(next[e.key]! + tabs.length) % tabs.length]!;
		to(tab.id);
		box.current!.querySelector<HTMLElement>(`[data-tab="${tab.id}"]`)?.focus();
	};
	return (
		<>
			<div class="tabs" role="tablist" aria-label="About the run" ref={box} onKeyDown={keys}>
				{tabs.map((t) => <button type="button" role="tab" key={t.id} id={"tab-" + t.id} data-tab={t.id} aria-selected={t.id === known} aria-controls="panel" tabIndex={t.id === known ? 0 : -1} onClick={() => to(t.id)}>{t.title}{!!t.count && <span class="count"> {t.count.toLocaleString("en-US")}</span>}</button>)}
			</div>
			<div id="panel" role="tabpanel" aria-labelledby={"tab-" + known}>{children}</div>
		</>
	);
}
