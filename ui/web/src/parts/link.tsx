import type { Run } from "../api";
import { to } from "../router";
import { line } from "./text";

// RunLink leads to a run. Its name is its key, if it has one, else the end of its id, which is what
// differs between runs of the same minute.
export function RunLink({ run }: { run: Pick<Run, "id" | "key"> }) {
	const name = run.key ? line(run.key, 60) : "…" + run.id.slice(-12);
	return <a class={run.key ? "run" : "run id"} href={to(["runs", run.id])} title={run.key ? `${line(run.key, 600)}\n${run.id}` : run.id}><bdi>{name}</bdi></a>;
}

// Found leads to the runs that a filter selects.
export function Found({ where, children }: { where: string; children: preact.ComponentChildren }) {
	return <a href={to(["runs"], { where })}>{children}</a>;
}


export { quote } from "../filter";
