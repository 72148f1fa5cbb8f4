import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Audit, Detail, Event, Why } from "../api";
import { type Answer, useAnswer } from "../answer";
import { now, title as site } from "../client";
import { soon, useLive } from "../live";
import type { Page } from "../page";
import { Badge, wordOf } from "../parts/badge";
import { Empty } from "../parts/empty";
import { Head } from "../parts/head";
import { quote } from "../parts/link";
import { ProblemBox } from "../parts/problem";
import { line } from "../parts/text";
import { go, to, usePlace } from "../router";
import { ActionDialog, Actions, type Asked } from "../run/actions";
import { Ask } from "../run/ask";
import { AuditView } from "../run/auditview";
import { bandsOf } from "../run/bands";
import { canOf } from "../run/can";
import { Tree } from "../run/children";
import { Facts } from "../run/facts";
import { FlowView } from "../run/flowview";
import { useHistory } from "../run/history";
import { Generations, HistoryView } from "../run/historyview";
import { Messages } from "../run/messages";
import { complete, read } from "../run/model";
import { type Tab, Tabs } from "../run/tabs";
import { InAndOut, Values } from "../run/values";
import { type Row, WaterfallView } from "../run/waterfall";
import { WhyBox } from "../run/why";

export const page: Page = { path: "runs/:run", title: "Run", view: RunPage };

// How often the page of a run that shows its messages looks for those that wait.
const toldMs = 5_000;

// RunPage shows one run. An address with a key becomes that of the run which has it now.
function RunPage({ params }: { params: Record<string, string> }) {
	const name = params.run!;
	const key = name.startsWith("key=") ? name.slice("key=".length) : undefined;
	return <div class="run-page">{key === undefined ? <Known id={name} /> : <ByKey of={key} />}</div>;
}

// ByKey finds the run that has a key, or had it last, without reading what that run has done.
function ByKey({ of }: { of: string }) {
	const found = useAnswer("GET /runs", { query: { where: `key = ${quote(of)}`, limit: 1 } });
	const id = found.answer?.runs[0]?.id;
	useEffect(() => {
		if (id) go(to(["runs", id], Object.fromEntries(new URLSearchParams(location.search))), "replace");
	}, [id]);
	return (
		<>
			<Head title={<bdi>{line(of, 80)}</bdi>} />
			<ProblemBox problem={found.problem} again={found.again} />
			{found.answer && !id && <Empty title="No run has this key."><p><a href={to(["runs"])}>All runs</a></p></Empty>}
		</>
	);
}

const tabs: Tab[] = [
	{ id: "", title: "Waterfall" }, { id: "history", title: "History" }, { id: "messages", title: "Messages" }, { id: "values", title: "Values" },
	{ id: "children", title: "Children" }, { id: "flow", title: "Flow" }, { id: "ask", title: "Ask and tell" }, { id: "audit", title: "Audit" },
];

// Known asks for all that there is of a run at once, and shows what is there.
function Known({ id }: { id: string }) {
	const query = usePlace().query;
	const generation = Number(query.get("generation")) || undefined;
	const path = { run: id };
	const shown = useAnswer("GET /runs/{run}", { path });
	const history = useHistory(id, generation, shown.answer?.run.generation);
	const why = useAnswer("GET /runs/{run}/why", { path });
	const audit = useAnswer("GET /audit", { query: { run: id, limit: 100 } });
	if (shown.answer) return <RunView detail={shown.answer} shown={shown} history={history} why={why} audit={audit} query={query} generation={generation} />;
	return (
		<>
			<Head title={<bdi>{line(id, 80)}</bdi>} />
			<ProblemBox problem={shown.problem} again={shown.again} />
		</>
	);
}

interface All {
	detail: Detail;
	shown: Answer<Detail>;
	history: ReturnType<typeof useHistory>;
	why: Answer<Why>;
	audit: Answer<Audit[]>;
	query: URLSearchParams;
	generation?: number;
}

function RunView({ detail, shown, history, why, audit, query, generation }: All) {
	const { run } = detail;
	const tab = query.get("tab") ?? "";
	const past = generation !== undefined && generation !== run.generation;
	const [changed, change] = useState(0);
	const [gone, setGone] = useState(false);
	const [asked, ask] = useState<Asked>();
	const [event, choose] = useState<number>();
	const can = canOf(detail);
	const name = run.key ? line(run.key, 80) : run.id;
	useEffect(() => {
		document.title = `${name} · ${site}`;
	}, [name]);

	const refresh = useRef(() => {});
	refresh.current = () => {
		shown.again();
		why.again();
		audit.again();
		change((n) => n + 1);
	};
	const look = useRef(soon(() => refresh.current(), 300)).current;
	const opened = useRef(false);
	// Of a run that has ended the page listens until it has the event that ended it: the history may have
	// been read before the end, and the end may be told elsewhere before the stream tells it.
	const whole = run.status !== "open" && endsRun(history.events.at(-1));
	const listening = !whole && !gone && !past && history.loaded !== undefined;
	useLive("GET /runs/{run}/events", listening ? { path: { run: run.id }, query: { after: `${run.generation}.${history.loaded}` } } : undefined, ["event", "run", "end", "gone"], (name, data, id) => {
		if (name === "open") {
			if (opened.current) look(); // connected again: the run may have gone another way meanwhile
			opened.current = true;
			return;
		}
		if (name === "gone") setGone(true);
		else if (name === "event") history.heard(id ?? "", data as Event);
		else look();
		if (!name) history.again(); // without a stream
		if (name === "event") look();
	});
	const told = tab === "messages" && run.status === "open" && !past;
	useEffect(() => {
		if (!told) return;
		shown.again(); // of a message that waits the stream says nothing
		const tick = setInterval(() => document.hidden || shown.again(), toldMs);
		return () => clearInterval(tick);
	}, [told, shown.again]);
	const clock = useClock(run.status === "open");
	const reasons = why.answer?.reasons;
	const drawn = useMemo(() => read(history.events), [history.events, history.version]);
	const fall = useMemo(() => (past ? drawn : complete(drawn, detail, reasons ?? [])), [drawn, detail, reasons, past]);
	const until = past || fall.ended ? fall.last : Math.max(clock, fall.last);
	const bands = useMemo(() => bandsOf(detail, audit.answer ?? []), [detail, audit.answer]);
	const steps = useMemo(() => [...new Set(drawn.items.filter((i) => i.kind === "step").map((i) => i.name))], [drawn]);
	if (gone) return <><Head title={<bdi>{name}</bdi>} /><Empty title="The run was deleted."><p><a href={to(["runs"])}>All runs</a></p></Empty></>;

	const put = (changes: Record<string, string | undefined>, how?: "replace") => go(to(["runs", run.id], { ...Object.fromEntries(query), ...changes }), how);
	const begin = (a: Asked) => () => ask(a);
	const aboutItem = ({ item }: Row, e?: Event) => past ? null : (
		<>
			{item.kind === "step" && e && can.look("edit") && <button type="button" onClick={begin({ verb: "edit", event: e })}>Give it another result…</button>}
			{item.kind === "step" && !e && item.cmd && can.open && can.look("edit") && <button type="button" onClick={begin({ verb: "edit", step: `cmd:${item.cmd}` })}>Give it a result…</button>}
			{item.seq && item.cmd && can.look("reset") && <button type="button" onClick={begin({ verb: "reset", point: `event:${item.seq - 1}` })}>Reset to before its outcome…</button>}
			{item.seq && item.cmd && can.look("fork") && <button type="button" onClick={begin({ verb: "fork", point: `event:${item.seq - 1}` })}>Fork before its outcome…</button>}
			{item.inbox && can("skip") && <button type="button" onClick={begin({ verb: "skip", message: item.inbox })}>Leave it out…</button>}
			{item.kind === "wait" && item.name.startsWith("it waits for signal ") && can("signal") && <button type="button" onClick={() => put({ tab: "ask", signal: item.name.slice("it waits for signal ".length) })}>Send the signal…</button>}
			{item.seq && <button type="button" class="quiet" onClick={() => { choose(item.seq); put({ tab: "history" }); }}>In the history</button>}
		</>
	);
	const aboutEvent = (e: Event) => past ? null : (
		<>
			{/^(StepCompleted|StepFailed)$/.test(e.kind) && can.look("edit") && <button type="button" onClick={begin({ verb: "edit", event: e })}>Give the step another result…</button>}
			{can.look("reset") && <button type="button" onClick={begin({ verb: "reset", point: `event:${e.seq}` })}>Reset to behind it…</button>}
			{can.look("fork") && <button type="button" onClick={begin({ verb: "fork", point: `event:${e.seq}` })}>Fork behind it…</button>}
			{/^(SignalReceived|UpdateReceived|CancelRequested)$/.test(e.kind) && e.inbox && can("skip") && <button type="button" onClick={begin({ verb: "skip", message: e.inbox })}>Leave the message out…</button>}
		</>
	);
	const parts = tabs.map((t) => (t.id === "messages" ? { ...t, count: detail.unread } : t));
	return (
		<>
			<Head title={<><bdi>{name}</bdi> <Badge word={wordOf(run)} /></>}><Actions can={can} ask={ask} /></Head>
			<ProblemBox problem={shown.problem} again={shown.again} />
			<WhyBox reasons={reasons} problem={why.problem} again={why.again} />
			<Facts run={run} detail={detail} labels={can("set-labels") ? begin({ verb: "labels" }) : undefined} />
			<Tabs tabs={parts} at={tab} to={(id) => put({ tab: id || undefined })}>
				{(tab === "" || tab === "history") && <Generations detail={detail} chosen={past ? generation : undefined} choose={(g) => put({ generation: g ? String(g) : undefined })} />}
				{(tab === "" || tab === "history" || tab === "messages") && <ProblemBox problem={history.problem} again={history.again} />}
				{tab === "" && <>
					<WaterfallView key={generation} run={run.id} generation={generation ?? run.generation} events={history.events} items={fall.items} from={fall.from} until={Math.max(until, fall.from + 1)} bands={bands} present={!past} busy={history.loading} actions={aboutItem} />
					<InAndOut detail={detail} />
				</>}
				{tab === "history" && <HistoryView run={run.id} events={history.events} generation={past ? generation : undefined} present={!past} chosen={event} choose={choose} actions={aboutEvent} busy={history.loading} />}
				{tab === "messages" && <Messages detail={detail} events={history.events} version={history.version} loading={history.loading} skip={can("skip") ? (message) => ask({ verb: "skip", message }) : undefined} />}
				{tab === "values" && <Values detail={detail} changed={changed} />}
				{tab === "children" && <Tree run={run} changed={changed} />}
				{tab === "flow" && <FlowView run={run.id} changed={changed} />}
				{tab === "ask" && <Ask detail={detail} events={history.events} version={history.version} can={can} done={look} begin={query.get("signal") ?? undefined} />}
				{tab === "audit" && <AuditView run={run.id} changed={changed} />}
			</Tabs>
			{asked && <ActionDialog asked={asked} detail={detail} steps={steps} can={can} close={() => ask(undefined)} done={() => refresh.current()} />}
		</>
	);
}

const endsRun = (e: Event | undefined) => !!e && /^Run(Completed|Failed|Cancelled|Terminated)$/.test(e.kind);

// useClock is the time, a few times in a minute: what goes on grows with it.
function useClock(ticks: boolean): number {
	const [at, set] = useState(now);
	useEffect(() => {
		if (!ticks) return;
		const timer = setInterval(() => document.hidden || set(now()), 5000);
		return () => clearInterval(timer);
	}, [ticks]);
	return at;
}
