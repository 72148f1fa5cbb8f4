import { useMemo } from "preact/hooks";
import { useAnswer } from "../answer";
import type { Run, WorkflowVersion } from "../api";
import type { Schema } from "./schema";

// Forms are the names of what a run can be asked and told, with the types of what goes with them
// where its code tells these.
export interface Forms {
	signal: Record<string, Schema | undefined>;
	update: Record<string, Schema | undefined>;
	query: Record<string, Schema | undefined>;
}

// useServed is what live nodes serve of a version of a workflow, undefined as long as that is not
// known, and if it is nothing.
export function useServed(workflow: string, version: number): WorkflowVersion | undefined {
	const all = useAnswer("GET /workflows", {});
	const served = all.answer?.some((s) => s.workflow === workflow && s.version === version);
	const types = useAnswer("GET /workflows/{workflow}", served ? { path: { workflow } } : undefined);
	return served ? types.answer?.versions.find((v) => v.version === version) : undefined;
}

// useForms asks what the code of a run receives.
export function useForms(run: Run): Forms {
	const served = useServed(run.workflow, run.version);
	return useMemo(() => {
		const forms: Forms = { signal: {}, update: {}, query: {} };
		for (const name of served?.signals ?? []) forms.signal[name] = undefined;
		for (const m of served?.messages ?? []) if (Object.hasOwn(forms, m.kind)) forms[m.kind as keyof Forms][m.name] = m.input as Schema | undefined;
		return forms;
	}, [served]);
}
