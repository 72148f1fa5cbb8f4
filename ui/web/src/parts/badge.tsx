import type { Run } from "../api";

// A state has a word and a sign, so that colour is never all that tells it.
const signs: Record<string, string> = {
	open: "●", ready: "●", live: "●", active: "●", completed: "✓", failed: "✕", cancelled: "⊘", terminated: "⊘",
	blocked: "!", quarantined: "!", paused: "‖", pausing: "‖", interrupting: "‖",
};

// Badge shows the word of a state.
export function Badge({ word }: { word: string }) {
	return <span class="badge" data-word={word}><span aria-hidden="true">{signs[word] ?? "·"}</span> {word}</span>;
}

// wordOf is the status of a run, and the state of an open one that is not ready.
export const wordOf = (r: Run) => (r.state && r.state !== "ready" ? r.state : r.status);
