import type { Event } from "../api";
import { PayloadView } from "../parts/payload";
import { ProblemBox } from "../parts/problem";
import { useWhole } from "./history";

// Carried shows what an event carries, and reads it first if it was too large for the list.
export function Carried({ run, generation, e, name, absent }: { run: string; generation?: number; e: Event; name: string; absent: string }) {
	const { event, problem, again } = useWhole(run, generation, e);
	if (problem) return <ProblemBox problem={problem} again={again} />;
	return event ? <PayloadView payload={event.payload} name={name} absent={absent} /> : <p class="hint" aria-busy="true">…</p>;
}
