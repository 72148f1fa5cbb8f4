import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { parse } from "../client";
import { written } from "../parts/payload";
import { Form } from "./form";
import { Json, wrongJson } from "./json";
import { blank, faultsOf, resolve, type Schema, wayOf } from "./schema";

// Typed is a value that somebody writes: in the fields of its type, or as JSON where the store does
// not know the type, or where somebody prefers that.
export interface Typed {
	schema?: Schema;
	raw: boolean;
	text: string;
	value: unknown; // undefined if it is empty
	faults: Map<string, string>;
	told: number;
	setRaw: (raw: boolean) => void;
	setText: (text: string) => void;
	setValue: (v: unknown) => void;
	// ready tells whether the value may be sent. What keeps it from that is told from then on, and the
	// first field that is wrong is where one writes.
	ready: () => boolean;
}

const none = new Map<string, string>();

// useTyped keeps what is written. What is written as JSON stays JSON when the type becomes known.
export function useTyped(schema: Schema | undefined): Typed {
	const [text, setText] = useState("");
	const [value, setValue] = useState<unknown>();
	const [raw, setRaw] = useState(false);
	const [told, tell] = useState(0);
	const written_ = useRef(text);
	written_.current = text;
	// Before anybody can write into the fields of the type: what comes after a paint would take that away.
	useLayoutEffect(() => {
		setValue(schema && blank(schema));
		setRaw(!!schema && written_.current.trim() !== "");
		tell(0);
	}, [schema]);
	const known = schema && wayOf(resolve(schema, schema), undefined, 0) !== "json" ? schema : undefined;
	const formed = !!known && !raw;
	const faults = useMemo(() => (formed ? faultsOf(known, value) : none), [formed, known, value]);
	const wrong = formed ? faults.size > 0 : !!wrongJson(text, true);
	return {
		schema: known, raw, text, faults, told, setText, setValue,
		value: formed ? value : wrong || !text.trim() ? undefined : parse(text),
		setRaw: (to) => {
			if (to) setText(value === undefined ? "" : written(value));
			else {
				setValue(text.trim() ? parse(text) : blank(schema!));
				setText("");
			}
			setRaw(to);
		},
		ready: () => {
			if (wrong) tell(told + 1);
			return !wrong;
		},
	};
}

// TypedFields shows a value to be written.
export function TypedFields({ typed, label }: { typed: Typed; label: string }) {
	const box = useRef<HTMLDivElement>(null);
	const { schema, raw, text, told } = typed;
	useEffect(() => {
		if (told) box.current!.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
	}, [told]);
	return (
		<div ref={box} class="typed">
			{schema && <label class="check small"><input type="checkbox" checked={raw} disabled={raw && !!wrongJson(text, true)} onChange={(e) => typed.setRaw(e.currentTarget.checked)} /> {label} as JSON</label>}
			{schema && !raw ? <Form whole={{ root: schema, faults: typed.faults, told: told > 0 }} schema={schema} value={typed.value} set={typed.setValue} name={label} required />
				: <Json label={label} hint="A value in JSON; null if it is empty." text={text} set={typed.setText} empty />}
		</div>
	);
}
