import type { ComponentChildren } from "preact";
import { useLiveState } from "../live";

// Head is the headline of a page, with what can be done there.
export function Head({ title, children }: { title: ComponentChildren; children?: ComponentChildren }) {
	return <header class="head"><h1>{title}</h1><LiveSign /><div class="actions">{children}</div></header>;
}

// LiveSign says how the page learns of changes.
function LiveSign() {
	const state = useLiveState();
	const words = { live: "live", polling: "looks every 15 s", connecting: "connecting", hidden: "rests", none: "" };
	return <span class="live" data-state={state} title="How this page learns of changes">{words[state]}</span>;
}
