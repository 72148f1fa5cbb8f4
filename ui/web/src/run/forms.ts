import { useMemo } from "preact/hooks";
import type { Run } from "../api";
import { useAnswer } from "../answer";
import type { Schema } from "./form";

// Forms are the names of what a run can be asked and told, with the types of what goes with them
// where the store knows them.
export interface Forms {
	signal: Record<string, Schema | null>;
	update: Record<string, Schema | null>;
	query: Record<string, Schema | null>;
}

// useForms asks the live nodes what the code of a run receives.
export function useForms(run: Run): Forms {
	const nodes = useAnswer("GET /nodes", {});
	return useMemo(() => {
		const forms: Forms = { signal: {}, update: {}, query: {} };
		for (const n of nodes.answer ?? [])
			for (const r of n.routes) if (r.workflow === run.workflow && r.version === run.version) for (const s of r.signals ?? []) forms.signal[s] = null;
		return forms;
	}, [nodes.answer, run.workflow, run.version]);
}
