import { useState } from "preact/hooks";
import type { Problem, ScheduleChange } from "../api";
import { call, parse, problemOf } from "../client";
import { useMay } from "../may";
import type { Page } from "../page";
import { Field } from "../parts/field";
import { Head } from "../parts/head";
import { ProblemBox } from "../parts/problem";
import { many, Text } from "../parts/text";
import { toast } from "../parts/toast";
import { go, to } from "../router";

export const page: Page = { path: "schedule-sets", title: "Apply a set of schedules", view: Sets };

const example = `{"set": "finance", "schedules": [
  {"name": "nightly", "cron": "30 2 * * mon-fri", "zone": "Europe/Berlin",
   "start": {"workflow": "report", "input": {"shop": 7}}}
]}`;

// Sets makes the schedules of a set those of a text. It is compared with what there is first, and
// only what was compared can be applied.
function Sets() {
	const may = useMay();
	const [text, setText] = useState("");
	const [would, setWould] = useState<{ of: string; change: ScheduleChange }>();
	const [problem, setProblem] = useState<Problem>();
	const [busy, setBusy] = useState(false);
	const compared = would?.of === text ? would.change : undefined;
	const send = async (dry_run: boolean) => {
		setBusy(true);
		setProblem(undefined);
		try {
			const set = read(text);
			const change = await call("POST /schedules", { query: { dry_run }, body: set });
			if (dry_run) setWould({ of: text, change });
			else {
				toast(change.waits ? "The change is stored. It waits for a node that serves schedules." : <>Set <Text max={60}>{change.set}</Text> is applied.</>);
				go(to(["schedules"]));
			}
		} catch (e) {
			setProblem(problemOf(e));
		} finally {
			setBusy(false);
		}
	};
	return (
		<>
			<Head title="Apply a set of schedules"><a href={to(["schedules"])}>All schedules</a></Head>
			<form onSubmit={(e) => { e.preventDefault(); void send(true); }}>
				<Field label="The set, in JSON" hint="All schedules of the set: those that are not in it are removed. Other sets stay as they are. The command reprise schedule apply reads YAML too.">
					<textarea class="large" data-filter spellcheck={false} placeholder={example} value={text} onInput={(e) => setText(e.currentTarget.value)} />
				</Field>
				<p class="row">
					<label class="small">From a file <input type="file" accept=".json,application/json" onChange={(e) => void e.currentTarget.files?.[0]?.text().then(setText)} /></label>
					<button type="submit" class={compared ? undefined : "primary"} disabled={busy || !text.trim()}>Compare</button>
				</p>
			</form>
			<ProblemBox problem={problem} />
			{compared && (
				<section class="part" aria-live="polite">
					<header><h2>What would change in set <Text max={60}>{compared.set}</Text></h2></header>
					<ul class="diff">
						{compared.added?.map((n) => <li key={n} data-change="added"><Text max={100}>{n}</Text> is new</li>)}
						{compared.changed?.map((n) => <li key={n} data-change="changed"><Text max={100}>{n}</Text> changes</li>)}
						{compared.removed?.map((n) => <li key={n} data-change="removed"><Text max={100}>{n}</Text> is removed</li>)}
						<li>{many(compared.kept, "schedule stays as it is", "schedules stay as they are")}</li>
					</ul>
					<p class="row">{may("schedule apply") && <button type="button" class={compared.removed ? "danger" : "primary"} disabled={busy} onClick={() => void send(false)}>Apply</button>}</p>
				</section>
			)}
		</>
	);
}

// read reads a set, or a list of schedules, which is that of the default set.
function read(text: string): { set?: string; schedules: unknown } {
	let set: unknown;
	try {
		set = parse(text);
	} catch (e) {
		throw new Error(`The text is no JSON: ${(e as Error).message}`);
	}
	if (Array.isArray(set)) return { schedules: set };
	return set as { schedules: unknown };
}
