import type { ComponentChildren } from "preact";
import { useAnswer } from "../answer";
import { call, root } from "../client";
import { Act, useAsk } from "../parts/act";
import { Field } from "../parts/field";
import { line, Text } from "../parts/text";
import { toast } from "../parts/toast";
import { to } from "../router";

// What one looks for most often. The others are saved by those who look for them.
const usual = [
	{ name: "All", where: "" },
	{ name: "Open", where: "status = open" },
	{ name: "Failed today", where: "status = failed and closed > -1d" },
	{ name: "Stand still", where: "status in (blocked, quarantined, paused)" },
];

// Views lead to filters that have a name. Those that somebody has saved are in the store, so they
// are there for everybody.
export function Views({ where, columns, children }: { where: string; columns?: string; children?: ComponentChildren }) {
	const saved = useAnswer("GET /views", {});
	const [ask, asked] = useAsk();
	const here = to(["runs"], { where, columns }).slice(root.pathname.length);
	// A saved address may be that of another page, which is not for here.
	const mine = (saved.answer ?? []).filter((v) => /^runs(\?|$)/.test(v.address));
	const current = mine.find((v) => v.address === here);
	const save = () => {
		let name = current?.name ?? "";
		ask({
			title: "Save this view", verb: "Save",
			children: <Field label="Name" hint="Everybody finds it here. One with the same name is replaced."><input name="view" value={name} required autocomplete="off" onInput={(e) => (name = e.currentTarget.value)} /></Field>,
			act: async (reason) => {
				await call("PUT /views/{view}", { path: { view: name.trim() }, body: { address: here, reason } });
				toast(<>View <Text max={60}>{name}</Text> is saved.</>);
				saved.again();
			},
		});
	};
	const remove = (name: string) =>
		ask({
			title: `Delete view ${line(name, 60)}?`, verb: "Delete", danger: true, children: <p>It is gone for everybody. The runs stay as they are.</p>,
			act: async (reason) => {
				await call("DELETE /views/{view}", { path: { view: name }, query: { reason } });
				toast(<>View <Text max={60}>{name}</Text> is deleted.</>);
				saved.again();
			},
		});
	return (
		<div class="bar">
			<ul class="views" aria-label="Views">
				{usual.map((v) => <li key={v.name}><a href={to(["runs"], { where: v.where })} aria-current={v.where === where ? "true" : undefined}>{v.name}</a></li>)}
				{mine.map((v) => <li key={"saved " + v.name}><a href={root.pathname + v.address} title={v.actor && `saved by ${line(v.actor, 60)}`} aria-current={v === current ? "true" : undefined}><Text max={40}>{v.name}</Text></a></li>)}
			</ul>
			{current ? <Act verb="view delete" quiet act={() => remove(current.name)}>Delete view…</Act> : where && !usual.some((v) => v.where === where) && <Act verb="view save" quiet act={save}>Save view…</Act>}
			{children}
			{asked}
		</div>
	);
}
