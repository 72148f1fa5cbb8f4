import { useEffect, useRef, useState } from "preact/hooks";
import type { Detail } from "../api";
import { call } from "../client";
import { Confirm } from "../parts/dialog";
import { Field, Flag } from "../parts/field";
import { line } from "../parts/text";
import { toast } from "../parts/toast";
import { go, to } from "../router";
import { AmendDialog, type Amended } from "./amend";
import type { Can } from "./can";
import { LabelsDialog } from "./labels";
import { RewindDialog, type Rewinding } from "./rewind";

// Asked is what one is about to do.
export type Asked =
	| { verb: "cancel" | "terminate" | "pause" | "resume" | "labels" | "priority" | "delete" }
	| ({ verb: "retry" | "reset" | "fork" } & Rewinding)
	| ({ verb: "edit" | "skip" } & Amended);

const names: Record<Asked["verb"], string> = {
	cancel: "Cancel", terminate: "Terminate", pause: "Pause", resume: "Resume", labels: "Labels", priority: "Priority",
	delete: "Delete", retry: "Retry", reset: "Reset", fork: "Fork", edit: "Give a step a result", skip: "Leave out a message",
};

// looks are verbs whose dry run anybody may have.
const looks = new Set<Asked["verb"]>(["retry", "reset", "fork", "edit"]);

// offered are the verbs that make sense, those first that one wants most.
export function offered(can: Can): Array<Asked["verb"]> {
	const list: Array<Asked["verb"]> = [];
	if (can.failed) list.push("retry");
	if (can.open) list.push(can.held ? "resume" : "pause", "cancel");
	list.push("reset", "fork", "edit", "labels");
	if (can.open) list.push("priority", ...(can.held ? [] : ["resume" as const]), "terminate");
	if (can.closed) list.push("delete");
	const verbs: Partial<Record<Asked["verb"], string>> = { labels: "set-labels", priority: "set-priority" };
	return list.filter((v) => can(verbs[v] ?? v) || (looks.has(v) && can.look(v)));
}

// Actions are buttons for what one wants most, and a menu of all else.
export function Actions({ can, ask }: { can: Can; ask: (a: Asked) => void }) {
	const list = offered(can);
	const most = list.filter((v) => can(v)).slice(0, can.open ? 2 : 1);
	const rest = list.filter((v) => !most.includes(v));
	return (
		<>
			{most.map((v) => <button type="button" key={v} onClick={() => ask({ verb: v } as Asked)}>{names[v]}…</button>)}
			{rest.length > 0 && <Menu label="More" items={rest.map((v) => ({ name: names[v] + (looks.has(v) && !can(v) ? " (preview)" : "") + "…", act: () => ask({ verb: v } as Asked), danger: v === "terminate" || v === "delete" }))} />}
		</>
	);
}

// Menu opens a list of buttons. The arrow keys move in it; Escape, and leaving it, close it.
function Menu({ label, items }: { label: string; items: Array<{ name: string; act: () => void; danger?: boolean }> }) {
	const [open, setOpen] = useState(false);
	const box = useRef<HTMLSpanElement>(null);
	useEffect(() => {
		if (open) box.current!.querySelector<HTMLElement>("[role=menuitem]")?.focus();
	}, [open]);
	const shut = () => {
		setOpen(false);
		box.current!.querySelector("button")!.focus();
	};
	const keys = (e: KeyboardEvent) => {
		if (!open) return;
		const list = [...box.current!.querySelectorAll<HTMLElement>("[role=menuitem]")];
		const at = list.indexOf(document.activeElement as HTMLElement);
		const next: Record<string, number> = { ArrowDown: (at + 1) % list.length, ArrowUp: (at - 1 + list.length) % list.length, Home: 0, End: list.length - 1 };
		if (e.key === "Escape") shut();
		else if (next[e.key] !== undefined) list[next[e.key]!]!.focus();
		else return;
		e.preventDefault();
	};
	return (
		<span class="menu-box" ref={box} onKeyDown={keys} onFocusOut={(e) => { if (!box.current!.contains(e.relatedTarget as Node | null)) setOpen(false); }}>
			<button type="button" aria-haspopup="menu" aria-expanded={open} onClick={() => setOpen(!open)}>{label} <span aria-hidden="true">▾</span></button>
			{open && (
				<span class="menu-list" role="menu" aria-label={label}>
					{items.map((i) => <button type="button" role="menuitem" tabIndex={-1} key={i.name} class={i.danger ? "risky" : undefined} onClick={() => { shut(); i.act(); }}>{i.name}</button>)}
				</span>
			)}
		</span>
	);
}

// ActionDialog asks about what one is about to do, and does it.
export function ActionDialog({ asked, detail, steps, can, close, done }: { asked: Asked; detail: Detail; steps: string[]; can: Can; close: () => void; done: () => void }) {
	const { run } = detail;
	const path = { run: run.id };
	const name = <strong><bdi>{line(run.key || run.id, 80)}</bdi></strong>;
	const [frozen, freeze] = useState(false);
	const [interrupts, interrupt] = useState(false);
	const [priority, setPriority] = useState(String(run.priority));
	const said = (text: string) => {
		toast(text);
		done();
	};
	switch (asked.verb) {
		case "cancel":
			return <Confirm title="Cancel the run" verb="Ask it to cancel itself" close={close} act={async (reason) => { await call("POST /runs/{run}/cancel", { path, body: { reason } }); said("The run was asked to cancel itself"); }}>
				<p class="say">The code of {name} hears of the request and may clean up: steps that are executed are asked to stop, and compensations run.</p></Confirm>;
		case "terminate":
			return <Confirm title="Terminate the run" verb="Terminate it" danger close={close} act={async (reason) => { await call("POST /runs/{run}/terminate", { path, body: { reason } }); said("The run is terminated"); }}>
				<p class="say">{name} ends at once. Its code hears nothing of it: nothing is compensated. A retry lets it go on from where it stood.</p></Confirm>;
		case "pause":
			return <Confirm title="Pause the run" verb="Pause it" close={close} act={async (reason) => { await call("POST /runs/{run}/pause", { path, body: { reason, freeze_timers: frozen || undefined, cancel_steps: interrupts || undefined } }); said("The run is paused"); }}>
				<p class="say">{name} starts no step until it is resumed. Messages wait for it.</p>
				<Flag label="Freeze timers" hint="They stand still, and have after the resume what is left of their time now." checked={frozen} set={freeze} />
				<Flag label="Interrupt steps" hint="What is executed is stopped, and starts anew at the resume." checked={interrupts} set={interrupt} /></Confirm>;
		case "resume":
			return <Confirm title="Resume the run" verb="Let it go on" close={close} act={async (reason) => { await call("POST /runs/{run}/resume", { path, body: { reason } }); said("The run goes on"); }}>
				<p class="say">{name} goes on now. A step that may not be tried again gets a new set of attempts.</p></Confirm>;
		case "priority":
			return <Confirm title="Change the priority" verb="Change it" ready={priority !== String(run.priority)} close={close} act={async (reason) => { await call("POST /runs/{run}/priority", { path, body: { priority: Number(priority), reason } }); said(`The priority is ${priority}`); }}>
				<Field label="Priority"><select value={priority} onChange={(e) => setPriority(e.currentTarget.value)}>{[1, 2, 3, 4, 5].map((n) => <option key={n} value={n}>{n}{n === 1 ? ", the most urgent" : ""}</option>)}</select></Field></Confirm>;
		case "delete":
			return <Confirm title="Delete the run" verb="Delete it for good" danger close={close} act={async (reason) => { await call("DELETE /runs/{run}", { path, query: { reason } }); toast("The run is deleted"); go(to(["runs"]), "replace"); }}>
				<p class="say">{name} goes with its history, its messages and its key. This cannot be undone; the audit keeps that it was there.</p></Confirm>;
		case "labels":
			return <LabelsDialog run={run} close={close} done={() => said("The labels are set")} />;
		case "retry":
		case "reset":
		case "fork":
			return <RewindDialog verb={asked.verb} begin={asked} detail={detail} steps={steps} may={can(asked.verb)} close={close} done={said} />;
		case "edit":
		case "skip":
			return <AmendDialog verb={asked.verb} begin={asked} detail={detail} steps={steps} may={can(asked.verb)} close={close} done={said} />;
	}
}
