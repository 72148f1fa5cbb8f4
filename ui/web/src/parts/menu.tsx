import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";

// Menu is a button that opens a small panel below it. Escape, and whatever leads away, closes it. The
// panel takes the focus of a click on what has none, which would be the page's otherwise.
export function Menu({ label, children }: { label: ComponentChildren; children: ComponentChildren }) {
	const ref = useRef<HTMLDetailsElement>(null);
	const close = () => {
		if (ref.current) ref.current.open = false;
	};
	return (
		<details ref={ref} class="dropdown"
			onKeyDown={(e) => { if (e.key === "Escape" && ref.current!.open) { e.preventDefault(); close(); ref.current!.querySelector("summary")!.focus(); } }}
			onFocusOut={(e) => e.relatedTarget && !e.currentTarget.contains(e.relatedTarget as Node) && close()}>
			<summary class="button">{label}</summary>
			<div class="panel" tabIndex={-1}>{children}</div>
		</details>
	);
}
