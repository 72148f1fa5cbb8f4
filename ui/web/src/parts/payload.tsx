import { useState } from "preact/hooks";
import type { Failure, Payload } from "../api";
import { Exact } from "../client";
import { count, plain } from "./text";

// A page shows the beginning of a value: a browser lays out megabytes of text for seconds.
const shownMax = 20_000;

// written is a value in JSON, indented.
export const written = (value: unknown) => JSON.stringify(value, (_, v) => (v instanceof Exact ? "\ue001" + v.text + "\ue001" : v), 2)?.replace(/"\ue001(.*?)\ue001"/g, "$1") ?? "null";

// PayloadView shows a value that was stored. It is text, whatever is in it.
export function PayloadView({ payload, name, absent = "nothing" }: { payload?: Payload; name: string; absent?: string }) {
	if (!payload) return <span class="none">{absent}</span>;
	if (payload.failure) return <FailureView failure={payload.failure} />;
	if (payload.bytes !== undefined) {
		return (
			<div class="payload">
				<p class="hint">The codec does not decode these bytes{payload.encoding ? ` of encoding ${plain(payload.encoding)}` : ""}. In base64:</p>
				<Written text={payload.bytes} name={name} />
			</div>
		);
	}
	if (payload.value === undefined) return <span class="none">not shown</span>;
	return <div class="payload"><Written text={written(payload.value)} name={name} /></div>;
}

// Written shows a text of any length as it is, with what does not print as its number.
export function Written({ text, name }: { text: string; name: string }) {
	const [all, setAll] = useState(false);
	const cut = !all && text.length > shownMax;
	const shown = cut ? text.slice(0, shownMax) : text;
	return (
		<>
			<pre tabIndex={0} role="region" aria-label={name} dir="ltr">{shown.split("\n").map(plain).join("\n")}{cut && "…"}</pre>
			<p class="row small">
				{cut && <button type="button" class="quiet" onClick={() => setAll(true)}>Show all {count(text.length)} characters</button>}
				<Copy text={text} name={name} />
			</p>
		</>
	);
}

// Copy copies a text, or says that the browser does not let it.
export function Copy({ text, name }: { text: string; name: string }) {
	const [word, setWord] = useState("Copy");
	const copy = () =>
		(navigator.clipboard?.writeText(text) ?? Promise.reject(new Error("no clipboard"))).then(
			() => setWord("Copied"),
			() => setWord("The browser does not let a page copy here"),
		);
	return <button type="button" class="quiet" aria-label={word === "Copy" ? `Copy ${name}` : word} onClick={copy}>{word}</button>;
}

// FailureView shows an error, and what it wraps.
export function FailureView({ failure }: { failure: Failure }) {
	return (
		<div class="failure">
			<p><strong>{failure.type ? plain(failure.type) : "error"}</strong>{failure.permanent && <span class="hint"> not tried again</span>}</p>
			<p class="message"><bdi>{plain(failure.message)}</bdi></p>
			{failure.stack && <details><summary>Stack</summary><Written text={failure.stack} name="stack" /></details>}
			{failure.cause && <div class="cause"><p class="hint">caused by</p><FailureView failure={failure.cause} /></div>}
			{failure.details?.map((d, i) => <div class="cause" key={i}><p class="hint">and</p><FailureView failure={d} /></div>)}
		</div>
	);
}
