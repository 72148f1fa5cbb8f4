import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import type { Problem, Slot } from "../api";
import { call, problemOf } from "../client";
import type { Page } from "../page";
import { Field } from "../parts/field";
import { Head } from "../parts/head";
import { ProblemBox } from "../parts/problem";
import { Slots } from "../parts/slots";
import { go, to, usePlace } from "../router";

export const page: Page = { path: "schedule-times", title: "Times of a schedule", view: Times };

const names = ["cron", "every", "zone", "after", "gap", "repeat"] as const;
type Spec = Record<(typeof names)[number], string>;

const zones = (Intl as unknown as { supportedValuesOf?: (key: string) => string[] }).supportedValuesOf?.("timeZone") ?? [];

// Times shows when a spec would run, before a schedule has it. The address has the spec.
function Times() {
	const query = usePlace().query;
	const asked = Object.fromEntries(names.map((n) => [n, query.get(n) ?? ""])) as Spec;
	const key = JSON.stringify(asked);
	const [typed, type] = useState(asked);
	const [slots, setSlots] = useState<Slot[]>();
	const [problem, setProblem] = useState<Problem>();
	useLayoutEffect(() => type(asked), [key]); // before the page is painted: behind that somebody may have typed
	useEffect(() => {
		setProblem(undefined);
		setSlots(undefined);
		if (!asked.cron && !asked.every) return;
		const stop = new AbortController();
		const lines = asked.cron.split("\n").map((l) => l.trim()).filter(Boolean);
		const body = {
			...(lines.length && { cron: lines }), ...(asked.every && { every: [{ every: asked.every.trim() }] }),
			zone: asked.zone || undefined, after: asked.after || undefined, gap: asked.gap || undefined, repeat: asked.repeat || undefined, number: 20,
		};
		call("POST /schedules/preview", { body, signal: stop.signal }).then(setSlots, (e) => stop.signal.aborted || setProblem(problemOf(e)));
		return () => stop.abort();
	}, [key]);
	const field = (name: keyof Spec) => ({ name, value: typed[name], autocomplete: "off", spellcheck: false, onInput: (e: { currentTarget: { value: string } }) => {
		const value = e.currentTarget.value;
		type((before) => ({ ...before, [name]: value }));
	} });
	return (
		<>
			<Head title="Times of a schedule"><a href={to(["schedules"])}>All schedules</a></Head>
			<form class="grid" onSubmit={(e) => { e.preventDefault(); go(to(["schedule-times"], typed)); }}>
				<Field label="Cron" hint="A line each: minute, hour, day, month, weekday."><textarea data-filter rows={2} placeholder="30 2 * * mon-fri" {...field("cron")} /></Field>
				<Field label="Every" hint="An interval: 15m, 1h30m."><input {...field("every")} /></Field>
				<Field label="Zone" hint="UTC if there is none."><input list="zones" placeholder="Europe/Berlin" {...field("zone")} /></Field>
				<Field label="After" hint="Now if there is none: 2027-03-27."><input {...field("after")} /></Field>
				<Field label="A time that does not exist"><select {...field("gap")}><option value="">runs after the gap</option><option value="before">runs before it</option><option value="skip">does not run</option></select></Field>
				<Field label="A time that exists twice"><select {...field("repeat")}><option value="">runs the first time</option><option value="second">runs the second time</option><option value="both">runs both times</option></select></Field>
				<datalist id="zones">{zones.map((z) => <option key={z} value={z} />)}</datalist>
				<p class="row"><button type="submit" class="primary">Show its times</button></p>
			</form>
			<ProblemBox problem={problem} />
			{slots && (slots.length ? <Slots list={slots} /> : <p class="hint">No time comes.</p>)}
		</>
	);
}
