import type { OverviewBucket } from "../api";
import { count } from "./text";

const height = 84; // of each half
const step = 10; // of a bucket, before the picture is stretched
const gap = 2;

const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const hour = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const both = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

// Bars shows what happened over time: what was started stands above the line, what ended hangs
// below it, with what failed of that at its end. Both halves have one scale.
export function Bars({ buckets, seconds }: { buckets: OverviewBucket[]; seconds: number }) {
	const most = buckets.reduce((m, b) => Math.max(m, b.started, b.closed), 0);
	const scale = (n: number) => (most === 0 ? 0 : n === 0 ? 0 : Math.max(1, (n / most) * height));
	const sums = buckets.reduce((s, b) => ({ started: s.started + b.started, closed: s.closed + b.closed, failed: s.failed + b.failed }), { started: 0, closed: 0, failed: 0 });
	const name = seconds >= 86_400 ? day : hour;
	const marks = buckets.length ? [buckets[0]!, buckets[Math.floor(buckets.length / 2)]!] : [];
	return (
		<figure class="bars">
			<figcaption class="row small">
				<span><i class="key started" aria-hidden="true" /> started {count(sums.started)}</span>
				<span><i class="key closed" aria-hidden="true" /> ended {count(sums.closed)}</span>
				<span><i class="key failed" aria-hidden="true" /> failed {count(sums.failed)}</span>
				<span class="hint">{most > 0 && `at most ${count(most)} in ${width(seconds)}`}</span>
			</figcaption>
			<svg viewBox={`0 0 ${buckets.length * step} ${2 * height + 1}`} preserveAspectRatio="none" role="img" aria-label={`Over time: ${count(sums.started)} started, ${count(sums.closed)} ended, ${count(sums.failed)} of them failed`}>
				{buckets.map((b, i) => {
					const [up, down, bad] = [scale(b.started), scale(b.closed), scale(b.failed)];
					return (
						<g key={b.at}>
							<title>{`${both.format(new Date(b.at))}: ${count(b.started)} started, ${count(b.closed)} ended, ${count(b.failed)} failed`}</title>
							<rect class="room" x={i * step} y="0" width={step} height={2 * height + 1} />
							{up > 0 && <rect class="started" x={i * step + gap / 2} y={height - up} width={step - gap} height={up} />}
							{down > bad && <rect class="closed" x={i * step + gap / 2} y={height + 1} width={step - gap} height={down - bad} />}
							{bad > 0 && <rect class="failed" x={i * step + gap / 2} y={height + 1 + Math.max(0, down - bad)} width={step - gap} height={bad} />}
						</g>
					);
				})}
				<line x1="0" x2={buckets.length * step} y1={height + 0.5} y2={height + 0.5} />
			</svg>
			<p class="marks small hint" aria-hidden="true">{marks.map((b) => <span key={b.at}>{name.format(new Date(b.at))}</span>)}<span>now</span></p>
			<details class="small">
				<summary>As a table</summary>
				<div class="scroll" tabIndex={0} role="region" aria-label="What happened over time">
					<table class="dense">
						<thead><tr><th scope="col">From</th><th scope="col" class="number">Started</th><th scope="col" class="number">Ended</th><th scope="col" class="number">Failed</th></tr></thead>
						<tbody>{[...buckets].reverse().map((b) => <tr key={b.at}><th scope="row">{both.format(new Date(b.at))}</th><td class="number">{count(b.started)}</td><td class="number">{count(b.closed)}</td><td class="number">{count(b.failed)}</td></tr>)}</tbody>
					</table>
				</div>
			</details>
		</figure>
	);
}

const width = (seconds: number) => (seconds >= 86_400 ? `${seconds / 86_400} d` : seconds >= 3600 ? `${seconds / 3600} h` : `${seconds / 60} min`);
