import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { complete, insert, type Known, type Offers } from "../filter";
import { plain } from "./text";

// FilterInput is where one writes a filter. It offers what could come next while one types, or with
// the key down. An offer is taken with Enter or Tab when it is chosen; else Enter finds.
export function FilterInput({ value, find, known, begin, wrong }: { value: string; find: (text: string) => void; known: Known; begin: () => void; wrong?: string }) {
	const [text, setText] = useState(value);
	const [offers, setOffers] = useState<Offers>();
	const [at, setAt] = useState(-1);
	const input = useRef<HTMLInputElement>(null);
	const caret = useRef<number | undefined>(undefined);
	const id = useId();
	useLayoutEffect(() => setText(value), [value]); // before it is painted: behind that somebody may have typed
	useEffect(() => {
		if (caret.current !== undefined) input.current!.setSelectionRange(caret.current, caret.current);
		caret.current = undefined;
	});
	const look = (text: string, always?: boolean) => {
		const o = complete(text, input.current!.selectionStart ?? text.length, known);
		setOffers(o.list.length > 0 && (always || text) ? o : undefined);
		setAt(-1);
	};
	// What is known comes a moment after one begins to write. What was chosen stays so, whatever comes
	// between.
	useLayoutEffect(() => {
		if (!offers) return;
		const o = complete(text, input.current!.selectionStart ?? text.length, known);
		setOffers(o.list.length > 0 ? o : undefined);
		setAt(at < 0 ? at : o.list.findIndex((n) => n.text === offers.list[at]!.text));
	}, [known]);
	const take = (i: number) => {
		const made = insert(text, offers!, offers!.list[i]!.text);
		caret.current = made.at;
		setText(made.text);
		input.current!.focus();
		const o = complete(made.text, made.at, known);
		setOffers(o.list.length > 0 ? o : undefined);
		setAt(-1);
	};
	const key = (e: KeyboardEvent) => {
		if (e.key === "ArrowDown" || e.key === "ArrowUp") {
			e.preventDefault();
			if (!offers) return look(text, true);
			const n = offers.list.length;
			setAt((at + (e.key === "ArrowDown" ? 1 : at < 0 ? 0 : -1) + n) % n);
		} else if (e.key === "Escape" && offers) {
			e.preventDefault();
			setOffers(undefined);
		} else if ((e.key === "Enter" || e.key === "Tab") && offers && at >= 0) {
			e.preventDefault();
			take(at);
		}
	};
	const submit = (e: Event) => {
		e.preventDefault();
		setOffers(undefined);
		find(text.trim());
	};
	return (
		<form class="filter" role="search" onSubmit={submit} onFocusOut={(e) => !e.currentTarget.contains(e.relatedTarget as Node | null) && setOffers(undefined)}>
			<div class="combo">
				<input ref={input} data-filter role="combobox" aria-label="Filter" aria-expanded={!!offers} aria-controls={id} aria-autocomplete="list" aria-activedescendant={offers && at >= 0 ? id + at : undefined}
					aria-invalid={wrong ? "true" : undefined} aria-describedby={wrong ? id + "w" : undefined}
					value={text} placeholder="status = failed and created > -1d" spellcheck={false} autocomplete="off" autocapitalize="off"
					onFocus={begin} onKeyDown={key} onInput={(e) => { setText(e.currentTarget.value); look(e.currentTarget.value); }} />
				<ul role="listbox" id={id} aria-label="What could come next" hidden={!offers}>
					{offers?.list.map((o, i) => (
						<li key={o.text} id={id + i} role="option" aria-selected={i === at} onMouseDown={(e) => { e.preventDefault(); take(i); }}>
							<code><bdi>{plain(o.text)}</bdi></code>{o.hint && <span class="hint">{o.hint}</span>}
						</li>
					))}
				</ul>
				{wrong && <p class="wrong" id={id + "w"} role="alert"><bdi>{plain(wrong)}</bdi></p>}
			</div>
			{text && <button type="button" class="quiet" onClick={() => { setText(""); find(""); input.current!.focus(); }}>Clear</button>}
			<button type="submit">Find</button>
		</form>
	);
}
