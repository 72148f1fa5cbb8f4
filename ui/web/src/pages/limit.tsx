import { useMemo } from "preact/hooks";
import type { Limit, LimitBounds, LimitClaim, LimitKey } from "../api";
import { useAnswer } from "../answer";
import { asksWho } from "../client";
import type { Page } from "../page";
import { Act, useAsk } from "../parts/act";
import { Facts, Part } from "../parts/facts";
import { Head } from "../parts/head";
import { Claimant, releasing, removing, setting, useBusyFresh } from "../parts/limits";
import { ProblemBox } from "../parts/problem";
import { type Column, Table } from "../parts/table";
import { count, many, Text } from "../parts/text";
import { Duration, Time } from "../parts/time";
import { go, to, usePlace } from "../router";

export const page: Page = { path: "limits/:limit", title: "Limit", view: One };

const shownMax = 200;

function One({ params }: { params: Record<string, string> }) {
	const name = params.limit!;
	const key = usePlace().query.get("key") ?? "";
	const asks = useMemo(() => ({ path: { limit: name }, query: { key: key || undefined, limit: shownMax } }), [name, key]);
	const shown = useAnswer("GET /limits/{limit}", asks);
	const l = shown.answer;
	useBusyFresh(shown.again, (l?.waiting ?? 0) > 0);
	const [ask, asked] = useAsk();
	const again = shown.again;
	const columns = useMemo(() => ({
		bounds: [
			{ id: "key", head: "Of", kind: "first", cell: (b: LimitBounds) => (b.key ? <>key <Text max={60}>{b.key}</Text></> : "each key") },
			{ id: "text", head: "Bounds", kind: "wide", cell: (b: LimitBounds) => <Text max={200}>{b.text.replace(/^key "[^]*": /, "")}</Text> },
			{ id: "at", head: "Set", cell: (b: LimitBounds) => <Time at={b.at} /> },
			{ id: "by", head: "By", cell: (b: LimitBounds) => b.actor && <Text max={60}>{b.actor}</Text> },
			{ id: "why", head: "Why", kind: "wide", cell: (b: LimitBounds) => b.reason && <Text max={300}>{b.reason}</Text> },
			{ id: "do", head: "Actions", cell: (b: LimitBounds) => (
				<span class="row">
					<Act verb="limit set" quiet label={`Change the bounds of ${b.key ? "key " + b.key : "each key"}`} act={() => ask(setting({ name, has: b }, again))}>Change</Act>
					<Act verb="limit remove" quiet label={`Remove the bounds of ${b.key ? "key " + b.key : "each key"}`} act={() => ask(removing(name, b.key, () => (b.key ? again() : go(to(["limits"])))))}>Remove</Act>
				</span>
			) },
		] as Array<Column<LimitBounds>>,
		keys: [
			{ id: "key", head: "Key", kind: "first", cell: (k: LimitKey) => (k.key ? <a href={to(["limits", name], { key: k.key })}><Text max={80}>{k.key}</Text></a> : <span class="none">no key</span>) },
			{ id: "held", head: "Held", kind: "number", cell: (k: LimitKey) => count(k.held) },
			{ id: "waiting", head: "Waits", kind: "number", cell: (k: LimitKey) => (k.waiting ? <strong>{count(k.waiting)}</strong> : "0") },
			{ id: "next", head: "Rate lets the next in", kind: "wide", cell: (k: LimitKey) => k.next_at && <Time at={k.next_at} /> },
		] as Array<Column<LimitKey>>,
		held: [
			{ id: "who", head: "Who", kind: "first", cell: (c: LimitClaim) => <Claimant of={c} /> },
			...ofKey,
			{ id: "since", head: "Holds it for", kind: "number", cell: (c: LimitClaim) => <Duration from={c.granted_at} /> },
			...costs,
			{ id: "do", head: "Actions", cell: (c: LimitClaim) => <Act verb="limit release" may={asksWho ? { verbs: c.may ?? [] } : {}} quiet label={`Release ${c.claim}`} act={() => ask(releasing(c, again))}>Release</Act> },
		] as Array<Column<LimitClaim>>,
		line: [
			{ id: "place", head: "Place", kind: "number", cell: (c: LimitClaim) => count(c.place ?? 0, (c.place ?? 0) >= 1000) },
			{ id: "who", head: "Who", kind: "first", cell: (c: LimitClaim) => <Claimant of={c} /> },
			...ofKey,
			{ id: "since", head: "Waits for", kind: "number", cell: (c: LimitClaim) => <Duration from={c.since} /> },
			{ id: "priority", head: "Priority", kind: "number", cell: (c: LimitClaim) => c.priority },
			...costs,
		] as Array<Column<LimitClaim>>,
	}), [name, again]);
	const held = (l?.claims ?? []).filter((c) => c.granted_at);
	const line = (l?.claims ?? []).filter((c) => !c.granted_at);
	const whole = l?.bounds.some((b) => !b.key);
	return (
		<>
			<Head title={<>Limit <Text max={80}>{name}</Text>{key && <>, key <Text max={80}>{key}</Text></>}</>}>
				{key && <a class="button" href={to(["limits", name])}>All keys</a>}
				{l && !whole && <Act verb="limit set" act={() => ask(setting({ name, has: { ...none } }, again))}>Bound each key</Act>}
				{l && <Act verb="limit set" act={() => ask(setting({ name, key }, again))}>Bound one key</Act>}
			</Head>
			<ProblemBox problem={shown.problem} again={shown.again} />
			{l && (
				<>
					<Facts of={factsOf(l)} />
					<Part title="Bounds">
						{l.bounds.length ? <Table label="Bounds" columns={columns.bounds} rows={l.bounds} keyOf={(b) => b.key ?? ""} /> : <p class="hint">It has been removed, while steps held it. It bounds nothing.</p>}
					</Part>
					{!key && (l.keys ?? []).some((k) => k.key) && <Part title="Keys in use"><Table label="Keys in use" columns={columns.keys} rows={l.keys!} keyOf={(k) => k.key ?? ""} /></Part>}
					<Part title="Held by" aside={<Rest of={l.held - held.length} capped={l.capped} />}>
						{held.length ? <Table label="Held by" columns={columns.held} rows={held} keyOf={(c) => c.claim + c.key} /> : <p class="hint">Nobody holds it.</p>}
					</Part>
					<Part title="In line" aside={<Rest of={l.waiting - line.length} capped={l.capped} />}>
						{line.length ? <Table label="In line" columns={columns.line} rows={line} keyOf={(c) => c.claim + c.key} /> : <p class="hint">Nobody waits.</p>}
					</Part>
				</>
			)}
			{asked}
		</>
	);
}

const none: LimitBounds = { weight: 1, ageing: "1m", at: "", text: "" };

const ofKey: Array<Column<LimitClaim>> = [{ id: "key", head: "Key", cell: (c) => c.key && <Text max={60}>{c.key}</Text> }];
const costs: Array<Column<LimitClaim>> = [{ id: "cost", head: "Cost", kind: "number", cell: (c) => count(c.cost) }];

// Rest says how many are not on the page.
function Rest({ of: n, capped }: { of: number; capped?: boolean }) {
	return n > 0 ? <span class="hint small">and {many(n, "more", "more", capped)} that the page does not show</span> : null;
}

function factsOf(l: Limit): Array<[string, preact.ComponentChildren]> {
	return [
		["Held", count(l.held, l.capped)],
		["Waiting", count(l.waiting, l.capped)],
		["Rate lets the next in", l.next_at && <Time at={l.next_at} />],
		["Keys in use", l.keys_in_use > 0 && count(l.keys_in_use, l.capped)],
	];
}
