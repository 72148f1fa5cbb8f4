import { parse } from "../client";
import { Field } from "../parts/field";

// wrongJson says what is wrong with a text that is to be JSON.
export function wrongJson(text: string, mayBeEmpty?: boolean): string | undefined {
	if (mayBeEmpty && !text.trim()) return undefined;
	try {
		parse(text);
		return undefined;
	} catch (e) {
		return `This is no JSON: ${e instanceof Error ? e.message : String(e)}`;
	}
}

// Json is a field for a value.
export function Json({ label, hint, text, set, empty }: { label: string; hint?: string; text: string; set: (text: string) => void; empty?: boolean }) {
	return (
		<Field label={label} hint={hint ?? "A value in JSON."} wrong={text.trim() ? wrongJson(text, empty) : undefined}>
			<textarea value={text} onInput={(e) => set(e.currentTarget.value)} spellcheck={false} autocomplete="off" rows={4} />
		</Field>
	);
}
