import { useEffect, useState } from "preact/hooks";
import type { Detail, Event } from "../api";
import { call, parse } from "../client";
import { Field, Flag } from "../parts/field";
import { written } from "../parts/payload";
import { useWhole } from "./history";
import { Json, wrongJson } from "./json";
import { Previewed } from "./preview";
import { Steps } from "./rewind";

// Amended is what a dialog begins with: a step's outcome, or a message.
export interface Amended {
	event?: Event;
	step?: string; // as the API names it, such as step:charge
	message?: number;
}

// AmendDialog gives a step another result, or leaves a message out of a run.
export function AmendDialog({ verb, begin, detail, steps, may, close, done }: { verb: "edit" | "skip"; begin: Amended; detail: Detail; steps: string[]; may: boolean; close: () => void; done: (said: string) => void }) {
	const path = { run: detail.run.id };
	const [message, setMessage] = useState(begin.message ? String(begin.message) : "");
	const [step, setStep] = useState(begin.step ?? (begin.event ? `event:${begin.event.seq}` : ""));
	const [result, setResult] = useState(() => (begin.event?.payload?.value !== undefined ? written(begin.event.payload.value) : ""));
	const whole = useWhole(detail.run.id, undefined, begin.event).event?.payload?.value;
	useEffect(() => {
		if (begin.event?.left_out && whole !== undefined) setResult((text) => text || written(whole));
	}, [whole]);
	const [unproven, setUnproven] = useState(false);
	const [keepChildren, setKeepChildren] = useState(false);
	const named = /^(step|cmd|event):/.test(step) ? step : step && `step:${step}`;
	const common = { unproven: unproven || undefined, keep_children: keepChildren || undefined };
	const ask = (reason?: string, dry?: boolean) => {
		const query = dry ? { dry_run: true } : {};
		if (verb === "skip") return call("POST /runs/{run}/skip", { path, query, body: { message: Number(message), reason, ...common } });
		return call("POST /runs/{run}/edit", { path, query, body: { step: named, result: parse(result), reason, ...common } });
	};
	const wrong = verb === "skip" ? (/^\d+$/.test(message) ? undefined : "Give the number of the message.") : !named ? "Name the step." : wrongJson(result);
	return (
		<Previewed title={verb === "skip" ? "Leave out a message" : "Give a step a result"} verb={verb === "skip" ? "Leave it out" : "Give it"} may={may} close={close}
			asked={[verb, message, step, result, unproven, keepChildren]} wrong={wrong}
			look={() => ask(undefined, true)}
			act={async (reason) => {
				await ask(reason);
				done(verb === "skip" ? "The message is left out" : "The step has the result");
			}}>
			{verb === "skip" ? (
				<>
					<p class="say">The run goes on as if the message had not come. If it has consumed it, that event and all behind it are taken back; what they did outside is not undone.</p>
					<Field label="Message" hint="Its number in the run's inbox."><input inputMode="numeric" value={message} onInput={(e) => setMessage(e.currentTarget.value.trim())} autocomplete="off" /></Field>
				</>
			) : (
				<>
					<p class="say">The step has this result from now on, and is not executed for it. If it had another one, all behind that is taken back.</p>
					<Field label="Step" hint="Its name, or event:N for the outcome that event N has, or cmd:N."><input list="steps" value={step} onInput={(e) => setStep(e.currentTarget.value)} autocomplete="off" /></Field>
					<Steps names={steps} />
					<Json label="Result" text={result} set={setResult} />
				</>
			)}
			<details class="options">
				<summary>Options</summary>
				<Flag label="Do not replay what is kept" hint="Nothing proves then that the code fits it. The run blocks if it does not." checked={unproven} set={setUnproven} />
				<Flag label="Keep children" hint="Children whose start is taken back are not cancelled." checked={keepChildren} set={setKeepChildren} />
			</details>
		</Previewed>
	);
}
