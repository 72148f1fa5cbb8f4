import type { ComponentChildren } from "preact";
import { to } from "../router";

// What one looks for most often. The others are saved by those who look for them.
const usual = [
	{ name: "All", where: "" },
	{ name: "Open", where: "status = open" },
	{ name: "Failed today", where: "status = failed and closed > -1d" },
	{ name: "Stand still", where: "status in (blocked, quarantined, paused)" },
];

// Views lead to filters that have a name.
export function Views({ where, children }: { where: string; columns?: string; children?: ComponentChildren }) {
	return (
		<div class="bar">
			<ul class="views" aria-label="Views">
				{usual.map((v) => <li key={v.name}><a href={to(["runs"], { where: v.where })} aria-current={v.where === where ? "true" : undefined}>{v.name}</a></li>)}
			</ul>
			{children}
		</div>
	);
}
