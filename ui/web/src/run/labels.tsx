import { useState } from "preact/hooks";
import type { Run } from "../api";
import { call } from "../client";
import { Confirm } from "../parts/dialog";

interface Label {
	was?: string; // its name, of one that there is
	name: string;
	value: string;
	gone?: boolean;
}

// LabelsDialog changes, adds and removes labels of a run.
export function LabelsDialog({ run, close, done }: { run: Run; close: () => void; done: () => void }) {
	const [list, setList] = useState<Label[]>(() => Object.entries(run.labels ?? {}).map(([name, value]) => ({ was: name, name, value })));
	const put = (i: number, change: Partial<Label>) => setList(list.map((l, j) => (j === i ? { ...l, ...change } : l)));
	const set: Record<string, string> = {};
	for (const l of list) if (!l.gone && l.name && (l.was !== l.name || run.labels?.[l.name] !== l.value)) set[l.name] = l.value;
	const remove = list.filter((l) => l.was !== undefined && (l.gone || l.was !== l.name)).map((l) => l.was!).filter((n) => !(n in set));
	const changes = Object.keys(set).length + remove.length > 0;
	return (
		<Confirm title="Labels" verb="Set the labels" ready={changes} close={close} act={async (reason) => {
			await call("POST /runs/{run}/labels", { path: { run: run.id }, body: { set, remove, reason } });
			done();
		}}>
			<p class="hint">The run's code may set them, too. A label is found in the filter by its name.</p>
			<table class="pairs"><thead><tr><th>Name</th><th>Value</th><th><span class="hidden">Remove</span></th></tr></thead><tbody>
				{list.map((l, i) => (
					<tr key={i} class={l.gone ? "gone" : undefined}>
						<td><input aria-label={`Name of label ${i + 1}`} value={l.name} disabled={l.gone} onInput={(e) => put(i, { name: e.currentTarget.value })} /></td>
						<td><input aria-label={`Value of label ${i + 1}`} value={l.value} disabled={l.gone} onInput={(e) => put(i, { value: e.currentTarget.value })} /></td>
						<td><button type="button" class="quiet" aria-label={`${l.gone ? "Keep" : "Remove"} label ${i + 1}`} onClick={() => (l.was === undefined ? setList(list.filter((_, j) => j !== i)) : put(i, { gone: !l.gone }))}>{l.gone ? "keep" : "✕"}</button></td>
					</tr>
				))}
			</tbody></table>
			<p><button type="button" class="quiet" onClick={() => setList([...list, { name: "", value: "" }])}>Add a label</button></p>
		</Confirm>
	);
}
