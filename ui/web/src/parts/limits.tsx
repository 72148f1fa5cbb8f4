import { useEffect } from "preact/hooks";
import type { LimitBounds, LimitClaim } from "../api";
import { call } from "../client";
import { useFresh } from "../fresh";
import { to } from "../router";
import type { Question } from "./act";
import { Field } from "./field";
import { Text } from "./text";
import { toast } from "./toast";

// What waits for a rate begins without a change of a run, so a page with something that waits looks
// by itself, while somebody looks at it.
const lookMs = 2000;
const waitingMs = 10_000;

// useBusyFresh asks again when runs or limits have changed, and now and then while something waits.
export function useBusyFresh(again: () => void, waiting: boolean) {
	useFresh(["runs", "audit"], again, { ms: lookMs });
	useEffect(() => {
		if (!waiting) return;
		const tick = setInterval(() => document.hidden || again(), waitingMs);
		return () => clearInterval(tick);
	}, [again, waiting]);
}

// Claimant says who has a claim, or waits with it.
export function Claimant({ of: c }: { of: LimitClaim }) {
	return (
		<>
			{c.step ? <>step <Text max={80}>{c.step}</Text> of run </> : "run "}
			<a class="id" href={to(["runs", c.run])} title={c.run}>…{c.run.slice(-12)}</a>
			{c.node ? <span class="hint"> on node {c.node}</span> : ""}
		</>
	);
}

// setting asks for the bounds of a limit, for all keys or one; has is what they are now.
export function setting(o: { name?: string; key?: string; has?: LimitBounds }, done: () => void): Question {
	const { has } = o;
	const text = (n?: number) => (n ? String(n) : "");
	const v = {
		name: o.name ?? "", key: has?.key ?? o.key ?? "", concurrency: text(has?.concurrency), total: text(has?.total), rate: has?.rate ?? "",
		burst: has?.rate ? text(has.burst) : "", weight: text(has?.weight), ageing: has?.ageing ?? "",
		backlog: text(has?.max_backlog), full: has?.on_full ?? "",
	};
	const input = (name: keyof typeof v, more: object = {}) => <input defaultValue={v[name]} onInput={(e) => (v[name] = e.currentTarget.value)} autocomplete="off" {...more} />;
	const number = { inputMode: "numeric", pattern: "[0-9]*" };
	const n = (s: string) => (s.trim() ? Number(s) : undefined);
	return {
		title: has ? `Change ${named(o.name!, has.key)}` : o.name ? `Bounds of one key of ${o.name}` : "Make a limit", verb: has ? "Change" : "Make",
		children: (
			<>
				{!o.name && <Field label="Name" hint="Which steps say.">{input("name", { required: true })}</Field>}
				{!has && <Field label="Key" hint={o.name ? "The only one that the bounds are for." : "Only if the bounds are for one key. Nothing is all keys."}>{input("key", { required: !!o.name })}</Field>}
				<Field label="At once" hint="So many steps of one key. Nothing is any number.">{input("concurrency", number)}</Field>
				{!v.key && !(o.name && !has) && <Field label="At once, of all keys" hint="Nothing is any number.">{input("total", number)}</Field>}
				<Field label="Rate" hint="So much of one key in a time, as in 100/1m. Nothing is any rate.">{input("rate", { placeholder: "100/1m" })}</Field>
				<Field label="Burst" hint="What may begin at once after a pause.">{input("burst", { ...number, placeholder: "1" })}</Field>
				<Field label="Weight" hint="Share of a key in what all keys may hold.">{input("weight", { ...number, placeholder: "1" })}</Field>
				<Field label="Ageing" hint="How long a wait is worth one level of priority.">{input("ageing", { placeholder: "1m" })}</Field>
				<Field label="Backlog" hint="So many runs of one key may wait. Nothing is any number.">{input("backlog", number)}</Field>
				<Field label="When it is full" hint="What happens to a run that comes when so many wait.">
					<select defaultValue={v.full} onInput={(e) => (v.full = e.currentTarget.value)}>
						<option value="">reject it, if there is a backlog</option>
						{["reject", "cancel oldest", "cancel newest"].map((word) => <option key={word} value={word} selected={word === v.full}>{word}</option>)}
					</select>
				</Field>
			</>
		),
		act: async (reason) => {
			const done_ = await call("PUT /limits/{limit}", {
				path: { limit: v.name.trim() || v.name },
				body: {
					key: v.key || undefined, concurrency: n(v.concurrency), total: n(v.total), rate: v.rate.trim() || undefined, burst: n(v.burst), weight: n(v.weight),
					ageing: v.ageing.trim() || undefined, max_backlog: n(v.backlog), on_full: (n(v.backlog) && v.full) || undefined, reason: reason || undefined,
				},
			});
			toast(<>Limit <Text max={60}>{done_.name ?? ""}</Text>: <Text max={200}>{done_.text ?? ""}</Text></>);
			done();
		},
	};
}

// removing asks whether a row of a limit is to go.
export function removing(name: string, key: string | undefined, done: () => void): Question {
	return {
		title: `Remove ${named(name, key)}?`, verb: "Remove", danger: true,
		children: <p>{key ? "The key has the bounds of all others then." : "Steps that wait for it begin, and it bounds nothing any more."}</p>,
		act: async (reason) => {
			await call("DELETE /limits/{limit}", { path: { limit: name }, query: { key, reason: reason || undefined } });
			toast("Removed.");
			done();
		},
	};
}

// releasing asks whether a holder is to lose its place.
export function releasing(c: LimitClaim, done: () => void): Question {
	return {
		title: c.granted_at ? "Take its place away?" : "Take it out of the line?", verb: "Release", danger: true,
		children: (
			<>
				<p><Claimant of={c} /></p>
				<p>{c.granted_at
					? "It is for a step that hangs. Another one begins. The step is not ended, so until it ends there may be one more than the limit allows."
					: "It begins no more until its node asks again, which takes seconds."}</p>
			</>
		),
		act: async (reason) => {
			await call("POST /runs/{run}/release", { path: { run: c.run }, body: { claim: c.claim, reason: reason || undefined } });
			toast("Released.");
			done();
		},
	};
}

const named = (name: string, key?: string) => (key ? `key ${key} of limit ${name}` : `limit ${name}`);
