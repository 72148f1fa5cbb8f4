import type { ComponentChildren } from "preact";

// Facts are names and what they are. A fact that is undefined, null or false is left out.
export function Facts({ of }: { of: Array<[string, ComponentChildren]> }) {
	return (
		<dl class="facts">
			{of.filter(([, v]) => v !== undefined && v !== null && v !== false && v !== "").map(([name, v]) => <div key={name}><dt>{name}</dt><dd>{v}</dd></div>)}
		</dl>
	);
}

// Part is a part of a page with its own headline.
export function Part({ title, aside, children }: { title: string; aside?: ComponentChildren; children: ComponentChildren }) {
	return <section class="part"><header><h2>{title}</h2>{aside}</header>{children}</section>;
}
