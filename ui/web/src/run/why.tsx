import type { ComponentChildren } from "preact";
import type { LimitWait, Problem, Reason } from "../api";
import { Claimant } from "../parts/limits";
import { ProblemBox } from "../parts/problem";
import { many, plain, Text } from "../parts/text";
import { Duration, Time } from "../parts/time";
import { to } from "../router";

// A place in code, as errors name it: a path with its line. And the id of a run.
const places = /((?:[\w.@~+-]+\/)*[\w.@~+-]+\.go:\d+|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})/;

// Sentence is a text about a run, with the lines of code in it set apart, and links to other runs.
export function Sentence({ text }: { text: string }) {
	const part = (t: string, i: number): ComponentChildren => (i % 2 === 0 ? t : t.includes(".go:") ? <code class="place" key={i}>{t}</code> : <a class="id" key={i} href={to(["runs", t])}>{t}</a>);
	return <bdi>{plain(text).split(places).map(part)}</bdi>;
}

// A run may wait for thousands of things. These are the first that one reads.
const shownMax = 3;
const foldedMax = 100;

// Group are reasons that say the same.
interface Group extends Reason {
	times: number;
}

function grouped(reasons: Reason[]): Group[] {
	const byText = new Map<string, Group>();
	for (const r of reasons) {
		const known = byText.get(r.text);
		if (known) known.times++;
		else byText.set(r.text, { ...r, times: 1 });
	}
	return [...byText.values()];
}

// WhyBox says why a run stands where it stands, and who has to do what.
export function WhyBox({ reasons, problem, again }: { reasons?: Reason[]; problem?: Problem; again: () => void }) {
	if (problem) return <ProblemBox problem={problem} again={again} />;
	const groups = grouped(reasons ?? []);
	const [first, rest] = [groups.slice(0, shownMax), groups.slice(shownMax)];
	return (
		<section class="why" aria-label="Why it stands where it stands" aria-busy={!reasons}>
			<ul>{first.map((r) => <ReasonView key={r.text} r={r} />)}</ul>
			{rest.length > 0 && (
				<details>
					<summary class="small">and {many(rest.length, "more reason")}</summary>
					<ul>{rest.slice(0, foldedMax).map((r) => <ReasonView key={r.text} r={r} />)}</ul>
					{rest.length > foldedMax && <p class="hint">and {many(rest.length - foldedMax, "more", "more")}</p>}
				</details>
			)}
		</section>
	);
}

function ReasonView({ r }: { r: Group }) {
	return (
		<li data-kind={r.kind}>
			<p class="text"><Sentence text={r.text} />{r.times > 1 && <span class="soft"> {r.times} times</span>}</p>
			<p class="hint">
				{r.since && (r.kind === "closed" ? <Time at={r.since} /> : <>for <Duration from={r.since} /></>)}
				{r.since && r.until && ", "}
				{r.until && <>over by itself <Time at={r.until} /></>}
				{(r.since || r.until) && r.remedy && " · "}
				{r.remedy && <bdi>{plain(r.remedy)}</bdi>}
			</p>
			{r.limit && <Waits of={r.limit} />}
		</li>
	);
}

// Waits says who holds the limit that a step waits for, and leads to it.
function Waits({ of: w }: { of: LimitWait }) {
	return (
		<p class="hint">
			<a href={to(["limits", w.waits.limit], { key: w.waits.key })}>Limit <Text max={60}>{w.waits.limit}</Text></a>
			{w.holders.length > 0 && <>, held by {w.holders.map((c, i) => <span key={c.claim}>{i > 0 && ", "}<Claimant of={c} /> for <Duration from={c.granted_at} /></span>)}</>}
			{w.holders.length > 0 && w.held > w.holders.length && ` and ${many(w.held - w.holders.length, "more", "more")}`}
		</p>
	);
}
