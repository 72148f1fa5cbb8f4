import type { Detail } from "../api";
import { useAnswer } from "../answer";
import { PayloadView } from "../parts/payload";
import { ProblemBox } from "../parts/problem";
import { plain, Text } from "../parts/text";

// InAndOut is what the run was given, and what came of it.
export function InAndOut({ detail }: { detail: Detail }) {
	return (
		<div class="two inout">
			<div><h2>Input</h2><PayloadView payload={detail.input} name="input" absent="The input is not shown, or empty." /></div>
			<div class="outcome"><h2>{detail.outcome?.failure ? "Failure" : "Output"}</h2>{detail.run.status === "open" ? <p class="hint">The run is open.</p> : <PayloadView payload={detail.outcome} name="output" absent="Nothing, or it is not shown." />}</div>
		</div>
	);
}

// Values are input and outcome, headers, and what the run publishes.
export function Values({ detail, changed }: { detail: Detail; changed: number }) {
	const published = useAnswer("GET /runs/{run}/published", { path: { run: detail.run.id } });
	useRefresh(published.again, changed);
	const headers = Object.entries(detail.headers ?? {});
	return (
		<div class="values">
			<InAndOut detail={detail} />
			<h2>Published</h2>
			<ProblemBox problem={published.problem} again={published.again} />
			{published.answer?.length === 0 && <p class="hint">The run has published nothing.</p>}
			{published.answer?.map((p) => <div key={p.name}><h3><Text>{p.name}</Text></h3><PayloadView payload={p.value} name={p.name} absent="not shown" /></div>)}
			{headers.length > 0 && <>
				<h2>Headers</h2>
				<dl class="facts">{headers.map(([name, value]) => <div class="long" key={name}><dt><Text>{name}</Text></dt><dd><bdi>{plain(value)}</bdi></dd></div>)}</dl>
			</>}
		</div>
	);
}

import { useEffect, useRef } from "preact/hooks";

// useRefresh asks again when something has changed.
export function useRefresh(again: () => void, changed: number) {
	const was = useRef(changed);
	useEffect(() => {
		if (was.current !== changed) again();
		was.current = changed;
	}, [changed]);
}
