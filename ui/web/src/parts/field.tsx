import { cloneElement, type ComponentChildren, type VNode } from "preact";
import { useId } from "preact/hooks";

// Field is a control with its label, a hint and what is wrong with it.
export function Field({ label, hint, wrong, children }: { label: string; hint?: ComponentChildren; wrong?: string; children: VNode<any> }) {
	const id = useId();
	const told = [hint && id + "h", wrong && id + "w"].filter(Boolean).join(" ");
	return (
		<div class="field">
			<label for={id}>{label}</label>
			{cloneElement(children, { id, "aria-describedby": told || undefined, "aria-invalid": wrong ? "true" : undefined })}
			{hint && <p class="hint" id={id + "h"}>{hint}</p>}
			{wrong && <p class="wrong" id={id + "w"} role="alert">{wrong}</p>}
		</div>
	);
}

// Flag is a box to tick, with what it means.
export function Flag({ label, hint, checked, set }: { label: string; hint?: string; checked: boolean; set: (on: boolean) => void }) {
	const id = useId();
	return (
		<div class="flag">
			<input type="checkbox" id={id} checked={checked} aria-describedby={hint ? id + "h" : undefined} onChange={(e) => set(e.currentTarget.checked)} />
			<label for={id}>{label}</label>
			{hint && <p class="hint" id={id + "h"}>{hint}</p>}
		</div>
	);
}
