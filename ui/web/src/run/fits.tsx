import { useState } from "preact/hooks";
import type { Problem } from "../api";
import { call, problemOf } from "../client";
import { ProblemBox } from "../parts/problem";

// Fits asks whether today's code does what the history says.
export function Fits({ run }: { run: string }) {
	const [busy, setBusy] = useState(false);
	const [known, set] = useState<{ fits?: boolean; problem?: Problem }>({});
	const ask = async () => {
		setBusy(true);
		try {
			set({ fits: (await call("GET /runs/{run}/replay", { path: { run } })).fits });
		} catch (e) {
			set({ problem: problemOf(e) });
		}
		setBusy(false);
	};
	return (
		<div class="fits">
			<p class="row"><button type="button" class="quiet" disabled={busy} aria-busy={busy} onClick={ask}>Does today's code fit this history?</button><span role="status">{known.fits && "It does."}</span></p>
			<ProblemBox problem={known.problem} />
		</div>
	);
}
