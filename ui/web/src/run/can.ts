import type { Detail } from "../api";
import { readOnly } from "../client";

// Can tells what is offered: what the run's state lets one do, and the API the actor. What only
// looks, as a dry run does, is offered to all.
export interface Can {
	(verb: string): boolean;
	look: (verb: string) => boolean; // whether a dry run of it is
	open: boolean;
	closed: boolean;
	held: boolean; // paused, or about to be
	failed: boolean; // ended without completing
}

// canOf reads what may be done from a run. The API says which verbs the actor may do, if it asks
// anybody about them.
export function canOf(d: Detail): Can {
	const { status, state } = d.run;
	const may = d.may && new Set(d.may);
	const open = status === "open";
	const allowed = (verb: string) => !may || may.has("run " + verb);
	const can = ((verb: string) => (!readOnly || verb === "query") && allowed(verb)) as Can;
	can.look = allowed;
	can.open = open;
	can.closed = !open;
	can.held = open && /^(paused|pausing|interrupting)$/.test(state ?? "");
	can.failed = !open && status !== "completed";
	return can;
}
