import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";

interface Toast {
	id: number;
	text: ComponentChildren;
}

let toasts: Toast[] = [];
let last = 0;
const watchers = new Set<() => void>();

function tell() {
	for (const fn of watchers) fn();
}

// toast says for a while what has been done.
export function toast(text: ComponentChildren) {
	const id = ++last;
	toasts = [...toasts.slice(-2), { id, text }];
	tell();
	setTimeout(() => drop(id), 8000);
}

function drop(id: number) {
	toasts = toasts.filter((t) => t.id !== id);
	tell();
}

// Toasts shows them. Who cannot see them hears them, after what is being said.
export function Toasts() {
	const [, set] = useState(0);
	useEffect(() => {
		const fn = () => set((n) => n + 1);
		watchers.add(fn);
		return () => void watchers.delete(fn);
	}, []);
	return (
		<div class="toasts" role="status">
			{toasts.map((t) => <div class="toast" key={t.id}><span>{t.text}</span><button type="button" class="quiet" aria-label="Dismiss" onClick={() => drop(t.id)}>✕</button></div>)}
		</div>
	);
}
