// Made from docs/openapi.json by `go generate ./ui`. Do not change it by hand.

export interface Along {
	/** as above */
	generation: number;
	/** as above */
	kept: number;
	/** id of the run above it */
	parent: string;
	/** id of the run */
	run: string;
	/** as above */
	steps?: Array<Repeated>;
}

export interface Answer {
	/** what the handler returned */
	answer: unknown;
	/** of a query: the event as of which the answer is, because the code does not fit the next one */
	as_of?: number;
	/** why the code does not fit that event */
	behind?: string;
	/** name of the update or query */
	name: string;
	/** id of the run */
	run: string;
}

export interface ApplyRequest {
	/** all schedules of the set, with the fields of docs/schedules.md; an empty list removes all */
	schedules: unknown;
	/** name of the set; default default */
	set?: string;
}

export interface Audit {
	/** who, as the program said */
	actor?: string;
	/** when */
	at: string;
	/** what the verb alone does not say */
	detail?: string;
	/** number of the entry; it grows with time */
	number: number;
	/** why, as the operator said */
	reason?: string;
	/** id of the run, which may be deleted by now; absent for a queue, a workflow, a node or a view, which detail names */
	run?: string;
	/** pause, resume, set-labels, set-priority, retry, reset, skip, edit, fork, terminate, delete, drain of a node, save-view, delete-view, set-limit, remove-limit, release-claim or cancel */
	verb: string;
	/** name of the workflow; empty for a queue, a node or a view */
	workflow: string;
}

export interface BackfillRequest {
	/** start the runs side by side, 100 a second, instead of one behind the other */
	at_once?: boolean;
	/** the first moment: 2026-11-30 or 2026-11-30T02:30:00Z; in UTC if it names no zone */
	from: string;
	/** the last moment, likewise; default now */
	to?: string;
}

export interface Bulk {
	/** whether there are more: counting ends at a million */
	capped?: boolean;
	/** runs to which it was done */
	done: number;
	/** whether the job with the key had ended before: nothing was done now */
	ended_before?: boolean;
	/** runs to which it could not be done */
	failed: number;
	/** the first 20 of these; bulk show has all. Of a dry run those of the first 20 runs to which it could not be done */
	failures?: Array<BulkFailure>;
	/** runs that ended, or were deleted, before it was their turn */
	not_needed: number;
	/** id of the job, which is a run; absent for a dry run, and if there is nothing to do */
	run?: string;
	/** how many runs the filter selected when the job began */
	runs: number;
	/** of the job: open, completed, failed, cancelled or terminated; absent without one */
	status?: string;
	/** cancel, terminate, pause, resume, signal, set-labels, set-priority, retry, reset, fork, edit, skip or delete */
	verb: string;
	/** of a dry run of retry, reset, fork, edit and skip: what would be done to the first 20 runs, as the verb says of one run */
	would?: Array<Rewound>;
}

export interface BulkFailure {
	/** beginning of the error */
	error: string;
	/** id of the run */
	run: string;
}

export interface BulkRequest {
	/** of retry: also runs in which other steps have completed since the failure */
	again?: boolean;
	/** all runs, instead of where */
	all?: boolean;
	/** of pause: interrupt running steps, which start anew when the run is resumed */
	cancel_steps?: boolean;
	/** so many runs at once, at most 256; default 32 */
	concurrency?: number;
	/** instead of where: the runs that failed in this job, which has ended: an id, or key=KEY */
	failures_of?: string;
	/** of pause: timers stand still until the resume, and have then what is left of their time now */
	freeze_timers?: boolean;
	/** of reset and fork, with generation or start: another input */
	input?: unknown;
	/** of reset, edit and skip: do not cancel children whose start is taken back */
	keep_children?: boolean;
	/** name of the job: the same job with it is told of, with ended_before if it has ended; another one is refused */
	key?: string;
	/** of set-labels: labels to set, by their names */
	labels?: Record<string, string>;
	/** of skip: name of the signal or update */
	message?: string;
	/** with no_messages: names of signals and updates that come again all the same */
	messages?: Array<string>;
	/** of reset and fork: leave out signals and updates that what is kept has not consumed */
	no_messages?: boolean;
	/** of signal: what it carries; of edit: the result */
	payload?: unknown;
	/** of reset and fork: event:N, step:NAME, failure, generation, start or fits */
	point?: string;
	/** of set-priority: 1, the most urgent, to 5 */
	priority?: number;
	/** of fork: another queue */
	queue?: string;
	/** at most so many runs a second; absent for as many as it can */
	rate?: number;
	/** why, for the audit and for the runs' histories */
	reason?: string;
	/** of set-labels: names of labels to remove */
	remove?: Array<string>;
	/** of fork: other results of steps, by their names: each in place of the first outcome */
	results?: Record<string, unknown>;
	/** of signal: its name */
	signal?: string;
	/** of edit: name of the step */
	step?: string;
	/** of reset, fork, edit and skip: do not replay what is kept; runs block if their code does not fit */
	unproven?: boolean;
	/** cancel, terminate, pause, resume, signal, set-labels, set-priority, retry, reset, fork, edit, skip or delete */
	verb: string;
	/** which runs, see docs/finding-runs.md: workflow = order and status = blocked */
	where?: string;
	/** of fork, and with generation or start of reset: another version of the workflow */
	workflow_version?: number;
}

export interface Changes {
	/** ids of those that are not on it any more */
	gone: Array<string>;
	/** those that are new on the page or have changed, in its order */
	runs: Array<Run>;
}

export interface Child {
	/** whether it was asked to cancel itself */
	cancelled?: boolean;
	/** number of the command in its generation */
	cmd: number;
	/** key of the child */
	key?: string;
	/** the child; absent if it was not found */
	run?: Run;
	/** when the code asked for it */
	since: string;
	/** name of the child's workflow */
	workflow: string;
}

export interface Detail {
	/** children whose outcome the run does not know */
	children?: Array<Child>;
	/** length of the present generation's history */
	events: number;
	/** when its timers stood still, because it was paused */
	freezes?: Array<Freeze>;
	/** headers of the start */
	headers?: Record<string, string>;
	/** the first messages that the run has not consumed */
	inbox?: Array<Unread>;
	/** input of the present generation */
	input?: Payload;
	/** time of the newest event */
	last_at?: string;
	/** of an HTTP API that asks who may do what: the verbs about a run, such as run cancel, that the actor may do with this one */
	may?: Array<string>;
	/** output or failure of a closed run */
	outcome?: Payload;
	/** newest first: when the run was retried, reset, forked or amended, or made as a fork, from where, by whom */
	rewinds?: Array<Audit>;
	/** the run */
	run: Run;
	/** signals that did not decode */
	set_aside?: Array<Message>;
	/** steps without an outcome */
	steps?: Array<Step>;
	/** timers that have not fired */
	timers?: Array<Timer>;
	/** messages in the inbox that the run has not consumed */
	unread: number;
	/** updates that were accepted and have no answer yet */
	updates?: Array<Message>;
}

export interface Drawing {
	/** of a run: steps of its history that no node of the shape has */
	beside?: Array<string>;
	/** what the program's own shape has otherwise, if it is another one */
	differs?: Array<string>;
	/** name of the flow */
	flow: string;
	/** the nodes, by name */
	nodes: Array<FlowNode>;
	/** the flowchart in the language that was asked for */
	picture?: string;
	/** of a run: its id */
	run?: string;
	/** hash of the shape */
	shape: string;
	/** of a run: open, completed, failed, cancelled, terminated or continued */
	status?: string;
}

export interface EditRequest {
	/** do not cancel children whose start is taken back */
	keep_children?: boolean;
	/** why, for the audit */
	reason?: string;
	/** the result that the step has from now on */
	result: unknown;
	/** step:NAME, cmd:N or event:N */
	step: string;
	/** do not replay what is kept; the run blocks if its code does not fit */
	unproven?: boolean;
}

export interface Event {
	/** attempts that a step took */
	attempt?: number;
	/** the command that it answers */
	cmd?: number;
	/** the message that it consumes */
	inbox?: number;
	/** the commands that the code asked for in reaction, in words */
	issued?: Array<string>;
	/** what happened: RunStarted, StepCompleted, SignalReceived and so on, as journal.Kind */
	kind: string;
	/** whether there is a payload, which was asked to be left out because of its size */
	left_out?: boolean;
	/** name of the step, timer, signal or child */
	name?: string;
	/** output, failure or what was sent */
	payload?: Payload;
	/** position in the history of the generation, from 1 */
	seq: number;
	/** when, by the store's clock */
	time: string;
}

export interface Failure {
	/** what it wraps */
	cause?: Failure;
	/** failed compensations */
	details?: Array<Failure>;
	/** text of the error */
	message: string;
	/** name under which the program has registered the error's type */
	name?: string;
	/** whether it is not tried again */
	permanent?: boolean;
	/** of a panic */
	stack?: string;
	/** of a run that passes on the failure of a step, also of a child's: name of the step */
	step?: string;
	/** Go type of the error, or reprise.Timeout and the like */
	type?: string;
}

export interface FailureGroup {
	/** of failed runs: the name or type of the error, as error.class finds it; of others: what the problem begins with, with N for numbers */
	class?: string;
	/** id of one of them: of that which was started last, unless the condition has an order */
	example: string;
	/** of failed runs: when the first of them ended; of blocked and quarantined ones: when the first of them was started */
	first_at?: string;
	/** of failed runs: when the last of them ended; of blocked and quarantined ones: when the last of them was started */
	last_at?: string;
	/** of that run */
	problem?: string;
	/** how many runs */
	runs: number;
	/** failed, blocked or quarantined */
	status: string;
	/** of failed runs: the step that has failed; absent if it was none */
	step?: string;
	/** version of the workflow */
	version: number;
	/** name of the workflow */
	workflow: string;
}

export interface Failures {
	/** there are more: those that were started first are not counted */
	capped?: boolean;
	/** the largest first, at most 200 */
	groups: Array<FailureGroup>;
	/** how many runs were counted */
	runs: number;
}

export interface FlowNode {
	/** the nodes that it comes after */
	after?: Array<string>;
	/** when it began */
	began_at?: string;
	/** the signal or workflow that it is about */
	calls?: string;
	/** when it ended, or was skipped */
	ended_at?: string;
	/** of the last of its steps that failed */
	error?: string;
	/** what its failure means, if not that of the run */
	exhausted?: string;
	/** its conditions, in words */
	if?: Array<string>;
	/** step, map, signal, time, call, flow or code */
	kind: string;
	/** name of the node, and of its steps */
	name: string;
	/** the flow that it is */
	nested?: Drawing;
	/** how many of them it awaits, if not all */
	quorum?: number;
	/** why it was skipped: condition_unmet, dependency_skipped, handler_failed or change */
	reason?: string;
	/** the change that has brought it */
	since?: string;
	/** of a run: waiting, running, completed, skipped, failed, cancelled, or left if the run ended before it began */
	status?: string;
	/** steps of it that have completed: of a map its progress */
	steps?: number;
	/** whether it has a compensation */
	undo?: boolean;
	/** whether it was undone */
	undone?: boolean;
	/** what an unmet condition means: fail, skip or skip-descendants */
	unmet?: string;
	/** the change that takes it away */
	until?: string;
}

export interface ForkRequest {
	/** with generation or start: another input */
	input?: unknown;
	/** key of the fork; without it the fork has none */
	key?: string;
	/** with no_messages: names of signals and updates that the fork gets all the same */
	messages?: Array<string>;
	/** leave out signals and updates that what is kept has not consumed */
	no_messages?: boolean;
	/** event:N, step:NAME, failure, generation, start or fits */
	point: string;
	/** another queue */
	queue?: string;
	/** why, for the audit */
	reason?: string;
	/** other results of steps, by the numbers of the events that have their outcomes */
	results?: Record<string, unknown>;
	/** do not replay what is kept; the fork blocks if its code does not fit */
	unproven?: boolean;
	/** another version of the workflow */
	workflow_version?: number;
}

export interface Forked {
	/** the run that was forked, as it stays, and where: done, generation and kept are those of the fork */
	of: Rewound;
	/** id of the fork; absent with a dry run */
	run?: string;
}

export interface Freeze {
	/** when they stopped */
	from: string;
	/** when they went on; absent while they stand still */
	until?: string;
}

export interface Group {
	/** if histories were asked for: attempts that these took */
	attempts?: number;
	/** those that are closed */
	closed: number;
	/** half of the closed runs took no longer */
	p50_seconds?: number;
	/** 95 of a hundred closed runs took no longer */
	p95_seconds?: number;
	/** how many runs */
	runs: number;
	/** if histories were asked for: outcomes of steps in the present generations */
	steps?: number;
	/** by the names of the groupings; a time is the beginning of its bucket, what a run does not have is empty */
	values?: Record<string, string>;
}

export interface LabelsRequest {
	/** why, for the audit */
	reason?: string;
	/** names of labels to remove */
	remove?: Array<string>;
	/** labels to set, by their names */
	set?: Record<string, string>;
}

export interface Limit {
	/** its rows: that of all keys, and those of keys that have their own; empty if it has been removed while steps held it */
	bounds: Array<LimitBounds>;
	/** whether there are more keys than were looked at: then the counts are those of the keys with the longest lines */
	capped?: boolean;
	/** if one limit is shown: who holds it, and then who waits, in the order of the lines */
	claims?: Array<LimitClaim>;
	/** claims that are held, of all keys */
	held: number;
	/** if one limit is shown: its keys that are in use, those with the longest lines first */
	keys?: Array<LimitKey>;
	/** keys of which something is held, waits, or has lately begun */
	keys_in_use: number;
	/** its name, which steps say */
	name: string;
	/** when a rate lets the next claim begin, of the keys that wait; absent for now */
	next_at?: string;
	/** claims that wait, of all keys */
	waiting: number;
}

export interface LimitBounds {
	/** who has set it, as the program said */
	actor?: string;
	/** how long a wait is worth one level of priority, as in 1m */
	ageing: string;
	/** when it was set */
	at: string;
	/** what may begin at once after a pause */
	burst?: number;
	/** so many of one key at once; absent for any number */
	concurrency?: number;
	/** the only key that it is for; absent for all that have no row of their own */
	key?: string;
	/** so many runs of one key may wait; 0 for any number */
	max_backlog?: number;
	/** what happens to a run that comes when so many wait: reject, cancel oldest or cancel newest; absent without a backlog */
	on_full?: string;
	/** so much of one key in a time, as in 100/1m; absent for any rate */
	rate?: string;
	/** why, as the operator said */
	reason?: string;
	/** what it bounds, in words */
	text: string;
	/** so many of all keys together; absent for any number */
	total?: number;
	/** share of a key in the total */
	weight: number;
}

export interface LimitChange {
	/** the claim that was released */
	claim?: string;
	/** what was done: set, removed or released */
	done: string;
	/** the only key that it is about */
	key?: string;
	/** name of the limit */
	name?: string;
	/** what it bounds now, in words */
	text?: string;
}

export interface LimitClaim {
	/** its name, which a release takes: that of all limits which the step needs */
	claim: string;
	/** number of the step among all that the run has asked for */
	cmd?: number;
	/** how much of the rate it needs */
	cost: number;
	/** since when it is held; absent while it waits */
	granted_at?: string;
	/** the key */
	key?: string;
	/** name of the limit */
	limit: string;
	/** if one limit is shown, of an HTTP API that asks who may do what: limit release, if the actor may release it */
	may?: Array<string>;
	/** number of the node that executes it */
	node?: number;
	/** its place in the line of its key, from 1, counted up to 1000; absent if it is held */
	place?: number;
	/** 1, the most urgent, to 5 */
	priority: number;
	/** id of the run */
	run: string;
	/** when the step fell due: its place in line is counted from then */
	since: string;
	/** name of the step; absent if it is the run's own */
	step?: string;
}

export interface LimitKey {
	/** claims that are held */
	held: number;
	/** the key; absent for that of steps that name none */
	key?: string;
	/** when its rate lets the next claim begin; absent for now */
	next_at?: string;
	/** claims that wait */
	waiting: number;
}

export interface LimitWait {
	/** how that was computed, or why it was not */
	estimate: string;
	/** an estimate of when it begins; absent if nobody can say */
	expected_at?: string;
	/** claims of its key that are held */
	held: number;
	/** the first few of those who hold what it waits for, that for longest first */
	holders: Array<LimitClaim>;
	/** claims in its line */
	waiting: number;
	/** the claim that waits */
	waits: LimitClaim;
}

export interface May {
	/** verbs that the actor may do, such as bulk cancel */
	verbs: Array<string>;
}

export interface Message {
	/** name of the signal or update */
	name: string;
	/** number of the message in the run's inbox */
	number: number;
}

export interface MessageType {
	/** JSON Schema of the payload or argument; absent if it is not known */
	input?: unknown;
	/** signal, update or query */
	kind: string;
	/** its name */
	name: string;
	/** JSON Schema of the answer; absent if it is not known, and of a signal */
	output?: unknown;
}

export interface Node {
	/** whether an operator has asked it to leave */
	draining?: boolean;
	/** when its lease ends unless it is renewed; on SQLite, where a lease is in the memory of its process, one lease from now */
	expires_at: string;
	/** number of the node */
	id: number;
	/** length of its lease */
	lease_seconds: number;
	/** its name, for people */
	name: string;
	/** what it serves */
	routes: Array<Route>;
	/** when it joined */
	started_at: string;
}

export interface Outcome {
	/** when the job had done with it, and with those beside it */
	at: string;
	/** beginning of the error, if it failed */
	error?: string;
	/** id of the run */
	run: string;
	/** done; not_needed: it ended, or was deleted, before it was its turn; failed; or unknown, if an earlier version executed the job */
	what: string;
}

export interface OutcomePage {
	/** cursor of the next page, absent on the last; a page may have no outcome although there are more */
	next?: string;
	/** in the order in which the job came to the runs */
	outcomes: Array<Outcome>;
}

export interface Overview {
	/** when it was counted */
	at: string;
	/** runs that are blocked */
	blocked: number;
	/** width of a bucket */
	bucket_seconds: number;
	/** what happened over time, oldest first; the last one has not ended */
	buckets: Array<OverviewBucket>;
	/** whether something was counted up to a limit, so that numbers are too small */
	capped?: boolean;
	/** runs that wait for a node now, if the reader may know of queues */
	due: number;
	/** when the first bucket begins */
	from: string;
	/** since when the one of these that has waited for longest is due */
	oldest_at?: string;
	/** open runs, with those that are blocked, quarantined and paused */
	open: number;
	/** runs that are paused, each by itself */
	paused: number;
	/** runs that are quarantined */
	quarantined: number;
	/** by workflow and version, the most troubled first */
	workflows: Array<OverviewWorkflow>;
}

export interface OverviewBucket {
	/** when it begins */
	at: string;
	/** runs that ended, of those that were started at most twice the window ago */
	closed: number;
	/** of these, those that failed */
	failed: number;
	/** runs that were started */
	started: number;
}

export interface OverviewWorkflow {
	/** runs of them that are blocked */
	blocked: number;
	/** of these, those that have completed */
	completed: number;
	/** runs of them that wait for a node now */
	due: number;
	/** of these, those that have failed */
	failed: number;
	/** since when the one of these that has waited for longest is due */
	oldest_at?: string;
	/** open runs, whenever they were started */
	open: number;
	/** half of those that have completed took no longer */
	p50_seconds?: number;
	/** 95 of a hundred that have completed took no longer */
	p95_seconds?: number;
	/** runs of them that are paused, each by itself */
	paused: number;
	/** runs of them that are quarantined */
	quarantined: number;
	/** runs that were started since from */
	started: number;
	/** version of the workflow */
	version: number;
	/** name of the workflow */
	workflow: string;
}

export interface Pause {
	/** who, as the program said */
	actor?: string;
	/** since when */
	at: string;
	/** whether steps that are executed are interrupted */
	interrupts?: boolean;
	/** the queue; absent for all */
	queue?: string;
	/** why, as the operator said */
	reason?: string;
	/** numbers of the nodes that have not answered, and may still start steps */
	unheeded?: Array<number>;
	/** version of the workflow; absent for all */
	version?: number;
	/** name of the workflow; absent for all */
	workflow?: string;
}

export interface PauseQueueRequest {
	/** interrupt steps that are executed; they start anew at the resume */
	cancel_steps?: boolean;
	/** why, for the audit and for those who ask why a run stands still */
	reason?: string;
	/** only runs of this workflow */
	workflow?: string;
}

export interface PauseRequest {
	/** interrupt steps that are executed; they start anew at the resume */
	cancel_steps?: boolean;
	/** timers stand still until the resume, and have then what is left of their time now */
	freeze_timers?: boolean;
	/** why, for the audit and for those who ask why the run stands still */
	reason?: string;
}

export interface PauseWorkflowRequest {
	/** interrupt steps that are executed; they start anew at the resume */
	cancel_steps?: boolean;
	/** only runs in this queue */
	queue?: string;
	/** why, for the audit and for those who ask why a run stands still */
	reason?: string;
	/** only runs of this version */
	version?: number;
}

export interface Payload {
	/** what is stored, in base64, if it could not be decoded */
	bytes?: string;
	/** name of the encoding, if it is not JSON */
	encoding?: string;
	/** of a value that is an error */
	failure?: Failure;
	/** the value; absent if the codec of this program does not decode it to JSON */
	value?: unknown;
}

export interface PreviewRequest {
	/** from then on, instead of now: 2026-11-30 or 2026-11-30T02:30:00Z */
	after?: string;
	/** a line of cron, or a list of them: 30 2 * * mon-fri */
	cron?: unknown;
	/** intervals: [{"every": "90m", "offset": "5m"}] */
	every?: unknown;
	/** times that do not run: [{"day": 25, "month": "dec"}] */
	except?: unknown;
	/** no times before then: 2026-11-30T00:00:00Z */
	from?: string;
	/** what becomes of a time that does not exist: after, before or skip */
	gap?: string;
	/** how much later a run may start: 5m */
	jitter?: string;
	/** how many times: 1 to 1000; default 10 */
	number?: number;
	/** lists of fields, all of which must fit: [{"day": 1, "hour": 12}] */
	on?: unknown;
	/** what becomes of a time that exists twice: first, second or both */
	repeat?: string;
	/** only times before then: 2026-12-31T00:00:00Z */
	until?: string;
	/** a zone, such as Europe/Berlin; default UTC */
	zone?: string;
}

export interface PriorityRequest {
	/** 1, the most urgent, to 5 */
	priority: number;
	/** why, for the audit */
	reason?: string;
}

export interface Problem {
	/** what went wrong */
	detail: string;
	/** how to go on */
	how?: string;
	/** status of the answer */
	status: number;
	/** the kind of problem, in words */
	title: string;
	/** URI of the kind of problem; programs branch on it */
	type: string;
}

export interface Published {
	/** the name under which the run has published it */
	name: string;
	/** the value, as of the run's last commit */
	value?: Payload;
}

export interface QueryRequest {
	/** its argument; null if it is absent */
	argument?: unknown;
	/** name of the query */
	name: string;
}

export interface Queue {
	/** whether there are more: counting ends at 10000 of a priority */
	capped?: boolean;
	/** runs that wait for a node now */
	due: number;
	/** names of the live nodes that serve it */
	nodes: Array<string>;
	/** since when the one that has waited for longest is due */
	oldest_at?: string;
	/** who has paused it, and why */
	paused?: string;
	/** the queue */
	queue: string;
	/** version of the workflow */
	version: number;
	/** name of the workflow */
	workflow: string;
}

export interface Reason {
	/** what it is about: closed, blocked, unserved, step, limit, timer, signal and so on, as runtime.ReasonKind */
	kind: string;
	/** of a wait for a limit: who holds it, its place in line, and when it may begin */
	limit?: LimitWait;
	/** who has to do what so that the run goes on */
	remedy?: string;
	/** since when, if that is known */
	since?: string;
	/** a sentence */
	text: string;
	/** when it is over by itself */
	until?: string;
}

export interface ReasonRequest {
	/** why, for the audit; of a request to cancel, for the run's history */
	reason?: string;
}

export interface ReleaseRequest {
	/** the claim, as GET limits/LIMIT and GET runs/ID/why have it */
	claim: string;
	/** why, for the audit */
	reason?: string;
}

export interface Repeated {
	/** certainly; perhaps: if the code asks for it again; or no: it keeps its result */
	again: string;
	/** attempts that it took */
	attempts: number;
	/** whether it had failed */
	failed?: boolean;
	/** output or failure */
	outcome?: Payload;
	/** number of the event that has its outcome */
	seq: number;
	/** name of the step */
	step: string;
}

export interface Replaced {
	/** whether it had failed */
	failed?: boolean;
	/** output that it has now */
	new?: Payload;
	/** number of the event that had its outcome; absent if it had none */
	seq?: number;
	/** name of the step */
	step: string;
	/** output or failure that it had */
	was?: Payload;
}

export interface Replayed {
	/** whether the code of this program does what the history says */
	fits: boolean;
	/** id of the run */
	run: string;
}

export interface ResetRequest {
	/** with generation or start: another input */
	input?: unknown;
	/** do not cancel children that were started behind the point */
	keep_children?: boolean;
	/** with no_messages: names of signals and updates that come again all the same */
	messages?: Array<string>;
	/** leave out signals and updates that what is kept has not consumed */
	no_messages?: boolean;
	/** event:N, step:NAME, failure, generation, start or fits */
	point: string;
	/** why, for the audit */
	reason?: string;
	/** do not replay what is kept; the run blocks if its code does not fit */
	unproven?: boolean;
	/** with generation or start: another version of the workflow */
	workflow_version?: number;
}

export interface ResumeQueueRequest {
	/** why, for the audit */
	reason?: string;
	/** the workflow that the pause named */
	workflow?: string;
}

export interface ResumeWorkflowRequest {
	/** the queue that the pause named */
	queue?: string;
	/** why, for the audit */
	reason?: string;
	/** the version that the pause named */
	version?: number;
}

export interface RetryRequest {
	/** also if steps have completed since the failure */
	again?: boolean;
	/** why, for the audit */
	reason?: string;
}

export interface Rewound {
	/** runs below it that go on with it, children before their own */
	children?: Array<Along>;
	/** what was done: retried, reset, skipped, edited, forked, or nothing for a dry run */
	done: string;
	/** the generation that goes on; with a dry run that would */
	generation: number;
	/** how many events of the generation before it begins with */
	kept: number;
	/** of a dry run: signals, updates and requests to cancel of the run, and what becomes of each; answers of children and of signals always come */
	messages?: Array<RewoundMessage>;
	/** whether there are messages that are not named: unread ones behind 10000, and those of the first generations of many */
	more_messages?: boolean;
	/** steps that have another result, of an edit or a fork */
	replaced?: Array<Replaced>;
	/** id of the run */
	run: string;
	/** steps that had ended behind them */
	steps?: Array<Repeated>;
}

export interface RewoundMessage {
	/** when it was consumed, or accepted if it was not */
	at: string;
	/** kept: what is kept has consumed it; again: it comes again, or the fork gets a copy; or dropped: it does not come again */
	fate: string;
	/** signal, update or cancel request */
	kind: string;
	/** number of the message, as run skip takes it */
	message: number;
	/** name of the signal or update */
	name?: string;
	/** number of the event that has consumed it; absent if the present generation has not */
	seq?: number;
}

export interface Route {
	/** the queue */
	queue: string;
	/** all signals that it receives, if its code says so */
	signals?: Array<string>;
	/** version of the workflow */
	version: number;
	/** name of the workflow */
	workflow: string;
}

export interface Run {
	/** when it ended */
	closed_at?: string;
	/** when it was started */
	created_at: string;
	/** when its time is up; absent while that stands still */
	deadline_at?: string;
	/** 1, and one more for each continue-as-new */
	generation: number;
	/** id of the run */
	id: string;
	/** the caller's own name for it */
	key?: string;
	/** its labels, as they are now */
	labels?: Record<string, string>;
	/** number of the node that owns it */
	node?: number;
	/** id of the run that waits for it */
	parent?: string;
	/** of a child: number of the command of its parent that has started it */
	parent_cmd?: number;
	/** of a child: the generation of its parent that has started it */
	parent_generation?: number;
	/** 1, the most urgent, to 5 */
	priority: number;
	/** why it is blocked, quarantined, failed, cancelled, terminated or unreadable */
	problem?: string;
	/** queue whose nodes execute it */
	queue: string;
	/** when its code may begin */
	start_at: string;
	/** of an open run: limited while it waits for its limits, ready, blocked, quarantined, paused, or pausing or interrupting until its node has answered */
	state?: string;
	/** open, completed, failed, cancelled or terminated */
	status: string;
	/** version of the workflow */
	version: number;
	/** when somebody looks at it next; absent while a node owns it, only a message wakes it, or its timers stand still */
	visible_at?: string;
	/** what the parked run waits for, in words */
	waiting?: Array<string>;
	/** name of the workflow */
	workflow: string;
}

export interface RunPage {
	/** cursor of the next page; absent on the last one */
	next?: string;
	/** the runs, newest first unless the condition has an order */
	runs: Array<Run>;
}

export interface SaveViewRequest {
	/** a path and a query below the pages: runs?where=status+%3D+failed */
	address: string;
	/** why, for the audit */
	reason?: string;
}

export interface Schedule {
	/** how many are under way */
	backfills: number;
	/** if one schedule is shown: the next slots, also while it is paused */
	coming?: Array<Slot>;
	/** those that have completed */
	completed: number;
	/** the schedule as it was applied, without its input */
	definition?: unknown;
	/** slots whose run was there already */
	existed: number;
	/** those that have failed */
	failed: number;
	/** how many of its runs have failed in a row, at the end */
	failures?: number;
	/** its name, behind that of its set and a slash if that is another than default */
	id: string;
	/** id of the newest run */
	last_run?: string;
	/** slot of the newest run */
	last_slot_at?: string;
	/** if one schedule is shown, of an HTTP API that asks who may do what: the verbs, such as schedule pause, that the actor may do with it */
	may?: Array<string>;
	/** slots that were older than the catch-up window when a node came */
	missed: number;
	/** the next slot; absent if there is none, and while it waits */
	next_at?: string;
	/** what daylight saving does to the next slot */
	note?: string;
	/** ids of the first 10 open runs */
	open?: Array<string>;
	/** how many are open */
	open_runs: number;
	/** what happens if a slot comes while a run is open: skip, buffer-one, buffer-all, cancel-other, terminate-other or allow */
	overlap?: string;
	/** who or what has paused it, and why */
	paused?: string;
	/** slots that wait for the end of open runs */
	queued: number;
	/** if one schedule is shown: its newest runs */
	recent?: Array<Run>;
	/** by which full limit a slot was skipped, the last time */
	refused?: string;
	/** id of the run that it is */
	run: string;
	/** slots and triggers that the overlap policy has left out */
	skipped: number;
	/** runs that it has started */
	started: number;
	/** active, waiting for the end of an open run, paused, new if no node has begun with it, or hidden if the reader is not shown what it says */
	state: string;
	/** what it starts */
	workflow?: string;
}

export interface ScheduleChange {
	/** names of new schedules */
	added?: Array<string>;
	/** names of those that differ */
	changed?: Array<string>;
	/** how many were as they are now */
	kept: number;
	/** names of those that are gone */
	removed?: Array<string>;
	/** name of the set */
	set: string;
	/** whether the change is stored, and no live node is there to make it: nothing else is known of it */
	waits?: boolean;
}

export interface ScheduleTold {
	/** what it was told: paused, resumed, triggered or backfill */
	done: string;
	/** id of the schedule */
	id: string;
	/** of a trigger: the key that its run gets */
	key?: string;
}

export interface Scope {
	/** what was done: paused or resumed */
	done: string;
	/** the queue; absent for all */
	queue?: string;
	/** version of the workflow; absent for all */
	version?: number;
	/** name of the workflow; absent for all */
	workflow?: string;
}

export interface Sent {
	/** what was done: signalled, cancel requested, terminated, paused, resumed, labels set, priority set or deleted */
	done: string;
	/** id of the run */
	run: string;
}

export interface Served {
	/** names of the live nodes that serve it */
	nodes: Array<string>;
	/** if no live node serves it: open runs of it, of 10000 that were counted in all; the command alone counts them */
	open?: number;
	/** who has paused it, and why */
	paused?: string;
	/** the queue */
	queue: string;
	/** version of the workflow */
	version: number;
	/** name of the workflow */
	workflow: string;
}

export interface SetLimitRequest {
	/** how long a wait is worth one level of priority, as in 1m, which is the default */
	ageing?: string;
	/** what may begin at once after a pause; default 1 */
	burst?: number;
	/** so many of one key at once; 0 for any number */
	concurrency?: number;
	/** make the row of this key alone; default that of all keys */
	key?: string;
	/** so many runs of one key may wait; 0 for any number */
	max_backlog?: number;
	/** what happens to a run that comes when so many wait: reject, which is the default, cancel oldest or cancel newest */
	on_full?: string;
	/** so much of one key in a time, as in 100/1m; default any rate */
	rate?: string;
	/** why, for the audit */
	reason?: string;
	/** so many of all keys together; 0 for any number */
	total?: number;
	/** share of a key in the total; default 1 */
	weight?: number;
}

export interface Shape {
	/** name of the flow */
	flow: string;
	/** id of the run that keeps it */
	run: string;
	/** hash of the shape */
	shape: string;
	/** when it was stored */
	stored_at: string;
}

export interface SignalRequest {
	/** a second signal with this key is dropped */
	key?: string;
	/** name of the signal */
	name: string;
	/** what it carries; null if it is absent */
	payload?: unknown;
}

export interface SkipRequest {
	/** do not cancel children whose start is taken back */
	keep_children?: boolean;
	/** number of the message in the run's inbox */
	message: number;
	/** why, for the audit */
	reason?: string;
	/** do not replay what is kept; the run blocks if its code does not fit */
	unproven?: boolean;
}

export interface Slot {
	/** the moment */
	at: string;
	/** what the clock of the zone shows then */
	local: string;
	/** what daylight saving does to it */
	note?: string;
	/** whether it does not run, because of that */
	omitted?: boolean;
}

export interface Span {
	/** attempts that a step took; of an open one those that have failed */
	attempts?: number;
	/** when the code asked for it, or the run heard of it */
	begin_at: string;
	/** number of the command in its generation */
	cmd?: number;
	/** of a timer: when it was to fire */
	due_at?: string;
	/** when its outcome was an event; absent while it is open */
	end_at?: string;
	/** step, timer, child, send, update, or signal and cancel request, which take no time */
	kind: string;
	/** the first place beside the other spans that was free when it began, from 0 */
	lane: number;
	/** name of the step, timer, signal, update or child's workflow */
	name?: string;
	/** of an open step: when the next attempt is due */
	next_at?: string;
	/** completed, failed, fired, cancelled, sent, refused, received, or left if the run ended before; absent while it is open */
	outcome?: string;
	/** of a child: its id */
	run?: string;
	/** number of the event that has its outcome */
	seq?: number;
}

export interface StartLimit {
	/** how much of the rate; default 1 */
	cost?: number;
	/** whose bounds: a tenant, say; absent for the only one */
	key?: string;
	/** name of the limit */
	name: string;
}

export interface StartRequest {
	/** how long the run's code does not begin: 90m, 12h, 3d */
	delay?: string;
	/** headers by their names, which the run's steps see */
	headers?: Record<string, string>;
	/** its input; null if it is absent */
	input?: unknown;
	/** name of the run; a second start with it returns the first run */
	key?: string;
	/** labels by their names */
	labels?: Record<string, string>;
	/** what the run holds from its first turn until it closes, beside what its workflow and its queue name */
	limits?: Array<StartLimit>;
	/** workflow to start if the run fails */
	on_failure?: string;
	/** 1, the most urgent, to 5; default 3 */
	priority?: number;
	/** queue whose nodes execute the run */
	queue?: string;
	/** what to do if a closed run has the key: reject, allow or allow-if-failed; default reject */
	reuse?: string;
	/** how long the run may take; absent for as long as it takes */
	run_timeout?: string;
	/** version of the workflow; default 1 */
	version?: number;
	/** name of the workflow */
	workflow: string;
}

export interface Started {
	/** false if a run had the key already: this is that one */
	created: boolean;
	/** id of the run */
	run: string;
}

export interface Step {
	/** attempts that have failed */
	attempts: number;
	/** whether it was asked to stop */
	cancelled?: boolean;
	/** number of the command in its generation */
	cmd: number;
	/** whether it may not be tried again, and has paused the run */
	exhausted?: boolean;
	/** of the last attempt */
	failure?: Failure;
	/** name of the step */
	name: string;
	/** when the next attempt is due */
	next_at?: string;
	/** when the code asked for it */
	since: string;
}

export interface Tally {
	/** there are more, which were not counted, and groups and times are of some of the runs */
	capped?: boolean;
	/** the largest first, at most 1,000 */
	groups: Array<Group>;
	/** how many runs were counted */
	runs: number;
}

export interface Timeline {
	/** time of its first event */
	begin_at: string;
	/** length of its history */
	events: number;
	/** the generation */
	generation: number;
	/** how many spans there were at once, at most */
	lanes: number;
	/** time of its last event */
	last_at: string;
	/** the parameter after for the spans behind these; absent if there are none */
	next?: number;
	/** the run */
	run: Run;
	/** the spans, in the order in which they began */
	spans: Array<Span>;
	/** how many spans there are */
	total: number;
}

export interface Timer {
	/** number of the command in its generation */
	cmd: number;
	/** when it fires; absent while it stands still */
	due_at?: string;
	/** while it stands still: what is left of its time, such as 1h30m0s */
	left?: string;
	/** name of the timer */
	name?: string;
	/** when the code armed it */
	since: string;
}

export interface TriggerRequest {
	/** a second trigger with it does nothing */
	key?: string;
	/** what happens if a run is open: skip, buffer-one, buffer-all, cancel-other, terminate-other or allow; default what the schedule says */
	overlap?: string;
}

export interface Unread {
	/** when the store accepted it */
	at: string;
	/** signal, update, cancel request or answer */
	kind: string;
	/** name of the signal or update */
	name?: string;
	/** number of the message in the run's inbox */
	number: number;
	/** payload */
	payload?: Payload;
}

export interface UpdateRequest {
	/** its argument; null if it is absent */
	argument?: unknown;
	/** a second update with this key is the same one, and gets the same answer */
	key?: string;
	/** name of the update */
	name: string;
	/** send nothing if the run, its queue or its workflow is paused */
	refuse_paused?: boolean;
}

export interface View {
	/** who has saved it, as the program said */
	actor?: string;
	/** a path and a query below the pages */
	address: string;
	/** when it was saved */
	at: string;
	/** what it is called */
	name: string;
}

export interface ViewChange {
	/** what was done: saved or deleted */
	done: string;
	/** what the view is called */
	name: string;
}

export interface Why {
	/** what is to be dealt with first comes first; never empty */
	reasons: Array<Reason>;
	/** the run */
	run: Run;
}

export interface Workflow {
	/** the versions that are served, the newest first */
	versions: Array<WorkflowVersion>;
	/** name of the workflow */
	workflow: string;
}

export interface WorkflowVersion {
	/** JSON Schema of the input; absent if it is not known */
	input?: unknown;
	/** the signals, updates and queries whose types its code tells */
	messages?: Array<MessageType>;
	/** JSON Schema of the output; absent if it is not known */
	output?: unknown;
	/** the queues in which it is served, and by whom */
	served: Array<Served>;
	/** all signals that it receives, if its code says so */
	signals?: Array<string>;
	/** version of the workflow */
	version: number;
}

// Operations has what each operation takes and answers.
export interface Operations {
	/** List what operators have done, newest first. */
	"GET /audit": {
		path: { };
		query: { run?: string; actor?: string; verb?: string; limit?: number; before?: number };
		body: undefined;
		answer: Array<Audit>;
		events: { };
		writes: false;
	};
	/** Start a job that acts on all runs that a filter selects, or count them with dry_run. A node must serve jobs. The status is 202, or 200 if nothing was started: with a key, because the same job was started before. */
	"POST /bulk": {
		path: { };
		query: { dry_run?: boolean };
		body: BulkRequest;
		answer: Bulk;
		events: { };
		writes: true;
	};
	/** Tell how far a job is, or what it has done. */
	"GET /bulk/{run}": {
		path: { run: string };
		query: { };
		body: undefined;
		answer: Bulk;
		events: { };
		writes: false;
	};
	/** List what a job has done to each of its runs. */
	"GET /bulk/{run}/outcomes": {
		path: { run: string };
		query: { failures?: boolean; limit?: number; cursor?: string };
		body: undefined;
		answer: OutcomePage;
		events: { };
		writes: false;
	};
	/** What changes in the first page of a list of runs, and nodes, pauses and audit. The first events say how all of it is. */
	"GET /events": {
		path: { };
		query: { limit?: number; where?: string; workflow?: string; version?: number; status?: string; state?: string; key?: string; key_prefix?: string; label?: Array<string>; parent?: string; unchanged?: string; since?: string; until?: string };
		body: undefined;
		answer: unknown;
		events: { audit: Array<Audit>; nodes: Array<Node>; pauses: Array<Pause>; problem: Problem; runs: Changes; };
		writes: false;
	};
	/** Count failed, blocked and quarantined runs by workflow, version, class of the error and step, with an example of each. */
	"GET /failures": {
		path: { };
		query: { cap?: number; where?: string; workflow?: string; version?: number; status?: string; state?: string; key?: string; key_prefix?: string; label?: Array<string>; parent?: string; unchanged?: string; since?: string; until?: string };
		body: undefined;
		answer: Failures;
		events: { };
		writes: false;
	};
	/** List the shapes of flows that are stored, newest first. */
	"GET /flows": {
		path: { };
		query: { };
		body: undefined;
		answer: Array<Shape>;
		events: { };
		writes: false;
	};
	/** Show the nodes of a flow, and what each comes after. */
	"GET /flows/{flow}": {
		path: { flow: string };
		query: { as?: string };
		body: undefined;
		answer: Drawing;
		events: { };
		writes: false;
	};
	/** List limits, with what is held of them and how many wait. */
	"GET /limits": {
		path: { };
		query: { };
		body: undefined;
		answer: Array<Limit>;
		events: { };
		writes: false;
	};
	/** Remove a limit, or its row for one key. Steps that wait for it begin. */
	"DELETE /limits/{limit}": {
		path: { limit: string };
		query: { key?: string; reason?: string };
		body: undefined;
		answer: LimitChange;
		events: { };
		writes: true;
	};
	/** Show a limit: its keys that are in use, who holds it, and who waits in which place. */
	"GET /limits/{limit}": {
		path: { limit: string };
		query: { key?: string; limit?: number };
		body: undefined;
		answer: Limit;
		events: { };
		writes: false;
	};
	/** Make a limit, or its row for one key, what the request says, while steps hold it and wait for it. */
	"PUT /limits/{limit}": {
		path: { limit: string };
		query: { };
		body: SetLimitRequest;
		answer: LimitChange;
		events: { };
		writes: true;
	};
	/** Tell which verbs about no single run the actor may do, and which about a workflow and a queue. Those about a run are in its record. */
	"GET /may": {
		path: { };
		query: { workflow?: string; version?: number; queue?: string };
		body: undefined;
		answer: May;
		events: { };
		writes: false;
	};
	/** List live nodes and what they serve. */
	"GET /nodes": {
		path: { };
		query: { };
		body: undefined;
		answer: Array<Node>;
		events: { };
		writes: false;
	};
	/** Let a node hand back its runs and leave, and wait until it has left. It is named by its number, or by its name if only one has it. */
	"POST /nodes/{node}/drain": {
		path: { node: string };
		query: { };
		body: ReasonRequest;
		answer: Node;
		events: { };
		writes: true;
	};
	/** This description. */
	"GET /openapi.json": {
		path: { };
		query: { };
		body: undefined;
		answer: Record<string, unknown>;
		events: { };
		writes: false;
	};
	/** Count what was started, ended and failed over time, what is open and stands still, and what waits for nodes, by workflow and version. It is of some seconds ago. */
	"GET /overview": {
		path: { };
		query: { window?: string };
		body: undefined;
		answer: Overview;
		events: { };
		writes: false;
	};
	/** List the queues and workflows that are paused. */
	"GET /pauses": {
		path: { };
		query: { };
		body: undefined;
		answer: Array<Pause>;
		events: { };
		writes: false;
	};
	/** List what waits for a node, by queue, workflow and version. */
	"GET /queues": {
		path: { };
		query: { };
		body: undefined;
		answer: Array<Queue>;
		events: { };
		writes: false;
	};
	/** Keep all runs of a queue from starting steps until it is resumed, and wait for all nodes. */
	"POST /queues/{queue}/pause": {
		path: { queue: string };
		query: { };
		body: PauseQueueRequest;
		answer: Scope;
		events: { };
		writes: true;
	};
	/** Let the runs of a queue go on. The fields are those of its pause. */
	"POST /queues/{queue}/resume": {
		path: { queue: string };
		query: { };
		body: ResumeQueueRequest;
		answer: Scope;
		events: { };
		writes: true;
	};
	/** List runs, newest first unless the condition has an order. */
	"GET /runs": {
		path: { };
		query: { limit?: number; cursor?: string; where?: string; workflow?: string; version?: number; status?: string; state?: string; key?: string; key_prefix?: string; label?: Array<string>; parent?: string; unchanged?: string; since?: string; until?: string };
		body: undefined;
		answer: RunPage;
		events: { };
		writes: false;
	};
	/** Start a run. The status is 201, or 200 if a run had the key already. */
	"POST /runs": {
		path: { };
		query: { };
		body: StartRequest;
		answer: Started;
		events: { };
		writes: true;
	};
	/** Count runs, by what they have in common, with times. */
	"GET /runs/count": {
		path: { };
		query: { by?: Array<string>; cap?: number; histories?: boolean; where?: string; workflow?: string; version?: number; status?: string; state?: string; key?: string; key_prefix?: string; label?: Array<string>; parent?: string; unchanged?: string; since?: string; until?: string };
		body: undefined;
		answer: Tally;
		events: { };
		writes: false;
	};
	/** Delete a closed run with its history, messages and key. It cannot be undone. */
	"DELETE /runs/{run}": {
		path: { run: string };
		query: { reason?: string };
		body: undefined;
		answer: Sent;
		events: { };
		writes: true;
	};
	/** Show a run: its input, what it does, how it ended. */
	"GET /runs/{run}": {
		path: { run: string };
		query: { };
		body: undefined;
		answer: Detail;
		events: { };
		writes: false;
	};
	/** Ask an open run to cancel itself. */
	"POST /runs/{run}/cancel": {
		path: { run: string };
		query: { };
		body: ReasonRequest;
		answer: Sent;
		events: { };
		writes: true;
	};
	/** Download the history of a run as lines of JSON, an event each. */
	"GET /runs/{run}/download": {
		path: { run: string };
		query: { generation?: number; compact?: boolean };
		body: undefined;
		answer: unknown;
		events: { };
		writes: false;
	};
	/** Give a step of a run a result, instead of what it has. */
	"POST /runs/{run}/edit": {
		path: { run: string };
		query: { dry_run?: boolean };
		body: EditRequest;
		answer: Rewound;
		events: { };
		writes: true;
	};
	/** A run's events as they come, until it ends: event for each, run whenever its record has changed, end when it is closed, gone if it is deleted. */
	"GET /runs/{run}/events": {
		path: { run: string };
		query: { after?: string };
		body: undefined;
		answer: unknown;
		events: { end: Run; event: Event; gone: Sent; problem: Problem; run: Run; };
		writes: false;
	};
	/** Show where the nodes of a run of a flow stand, with the shape that it began with. */
	"GET /runs/{run}/flow": {
		path: { run: string };
		query: { as?: string };
		body: undefined;
		answer: Drawing;
		events: { };
		writes: false;
	};
	/** Begin another run at a point of a run's history. */
	"POST /runs/{run}/fork": {
		path: { run: string };
		query: { dry_run?: boolean };
		body: ForkRequest;
		answer: Forked;
		events: { };
		writes: true;
	};
	/** List the events of a run's present generation, or of an earlier one. */
	"GET /runs/{run}/history": {
		path: { run: string };
		query: { generation?: number; after?: number; limit?: number; compact?: boolean; payload_bytes?: number };
		body: undefined;
		answer: Array<Event>;
		events: { };
		writes: false;
	};
	/** Set and remove labels of a run, open or closed. */
	"POST /runs/{run}/labels": {
		path: { run: string };
		query: { };
		body: LabelsRequest;
		answer: Sent;
		events: { };
		writes: true;
	};
	/** Keep an open run from starting steps until it is resumed, and wait for its node's answer. */
	"POST /runs/{run}/pause": {
		path: { run: string };
		query: { };
		body: PauseRequest;
		answer: Sent;
		events: { };
		writes: true;
	};
	/** Change the priority of an open run. */
	"POST /runs/{run}/priority": {
		path: { run: string };
		query: { };
		body: PriorityRequest;
		answer: Sent;
		events: { };
		writes: true;
	};
	/** List the values that a run has published. */
	"GET /runs/{run}/published": {
		path: { run: string };
		query: { name?: string };
		body: undefined;
		answer: Array<Published>;
		events: { };
		writes: false;
	};
	/** Ask a run a question, with the code of Options.Node. Nothing is written. */
	"POST /runs/{run}/query": {
		path: { run: string };
		query: { };
		body: QueryRequest;
		answer: Answer;
		events: { };
		writes: false;
	};
	/** Take what a run holds of limits away, for a step that hangs. The step is not ended. */
	"POST /runs/{run}/release": {
		path: { run: string };
		query: { };
		body: ReleaseRequest;
		answer: LimitChange;
		events: { };
		writes: true;
	};
	/** Tell whether the code of Options.Node fits a run's history. Nothing is written. */
	"GET /runs/{run}/replay": {
		path: { run: string };
		query: { };
		body: undefined;
		answer: Replayed;
		events: { };
		writes: false;
	};
	/** Let a run go on from an earlier point of its history. */
	"POST /runs/{run}/reset": {
		path: { run: string };
		query: { dry_run?: boolean };
		body: ResetRequest;
		answer: Rewound;
		events: { };
		writes: true;
	};
	/** Let a paused, blocked, quarantined or parked run go on now. */
	"POST /runs/{run}/resume": {
		path: { run: string };
		query: { };
		body: ReasonRequest;
		answer: Sent;
		events: { };
		writes: true;
	};
	/** Let a closed run go on from before its failure. */
	"POST /runs/{run}/retry": {
		path: { run: string };
		query: { dry_run?: boolean };
		body: RetryRequest;
		answer: Rewound;
		events: { };
		writes: true;
	};
	/** Send a signal to an open run. */
	"POST /runs/{run}/signal": {
		path: { run: string };
		query: { };
		body: SignalRequest;
		answer: Sent;
		events: { };
		writes: true;
	};
	/** Leave a message out of a run for good. */
	"POST /runs/{run}/skip": {
		path: { run: string };
		query: { dry_run?: boolean };
		body: SkipRequest;
		answer: Rewound;
		events: { };
		writes: true;
	};
	/** Close an open run at once, without running its code. It cannot be undone. */
	"POST /runs/{run}/terminate": {
		path: { run: string };
		query: { };
		body: ReasonRequest;
		answer: Sent;
		events: { };
		writes: true;
	};
	/** Show what a run has done and waited for over time: steps, timers, children, messages, each with its begin and its end. */
	"GET /runs/{run}/timeline": {
		path: { run: string };
		query: { generation?: number; after?: number; limit?: number };
		body: undefined;
		answer: Timeline;
		events: { };
		writes: false;
	};
	/** Send an update to an open run and wait for its answer. */
	"POST /runs/{run}/update": {
		path: { run: string };
		query: { };
		body: UpdateRequest;
		answer: Answer;
		events: { };
		writes: true;
	};
	/** Tell why a run stands where it stands, and who has to do what. */
	"GET /runs/{run}/why": {
		path: { run: string };
		query: { };
		body: undefined;
		answer: Why;
		events: { };
		writes: false;
	};
	/** List schedules, when they run next, and what they have done, without their definitions. */
	"GET /schedules": {
		path: { };
		query: { set?: string };
		body: undefined;
		answer: Array<Schedule>;
		events: { };
		writes: false;
	};
	/** Make the schedules of a set those of the request, all at once: those that are gone are removed. The status is 202 if no live node makes the change. */
	"POST /schedules": {
		path: { };
		query: { dry_run?: boolean };
		body: ApplyRequest;
		answer: ScheduleChange;
		events: { };
		writes: true;
	};
	/** List the next times of a spec that no schedule has yet. Nothing is written. */
	"POST /schedules/preview": {
		path: { };
		query: { };
		body: PreviewRequest;
		answer: Array<Slot>;
		events: { };
		writes: false;
	};
	/** Remove a schedule. Runs that it has started go on. The status is 202 if no live node makes the change. */
	"DELETE /schedules/{schedule}": {
		path: { schedule: string };
		query: { };
		body: undefined;
		answer: ScheduleChange;
		events: { };
		writes: true;
	};
	/** Show a schedule, what it waits for, what it has done, its next slots and its newest runs. */
	"GET /schedules/{schedule}": {
		path: { schedule: string };
		query: { };
		body: undefined;
		answer: Schedule;
		events: { };
		writes: false;
	};
	/** Start the runs of past slots that have none. */
	"POST /schedules/{schedule}/backfill": {
		path: { schedule: string };
		query: { };
		body: BackfillRequest;
		answer: ScheduleTold;
		events: { };
		writes: true;
	};
	/** Keep a schedule from starting runs until it is resumed. Triggers and backfills run. */
	"POST /schedules/{schedule}/pause": {
		path: { schedule: string };
		query: { };
		body: ReasonRequest;
		answer: ScheduleTold;
		events: { };
		writes: true;
	};
	/** List the next times of a schedule, with what daylight saving does to them. */
	"GET /schedules/{schedule}/preview": {
		path: { schedule: string };
		query: { after?: string; number?: number };
		body: undefined;
		answer: Array<Slot>;
		events: { };
		writes: false;
	};
	/** Let a paused schedule go on, with the slots that come. */
	"POST /schedules/{schedule}/resume": {
		path: { schedule: string };
		query: { };
		body: undefined;
		answer: ScheduleTold;
		events: { };
		writes: true;
	};
	/** Start a run of a schedule now, also while it is paused. */
	"POST /schedules/{schedule}/trigger": {
		path: { schedule: string };
		query: { };
		body: TriggerRequest;
		answer: ScheduleTold;
		events: { };
		writes: true;
	};
	/** List the addresses of pages that people have saved, by their names. */
	"GET /views": {
		path: { };
		query: { };
		body: undefined;
		answer: Array<View>;
		events: { };
		writes: false;
	};
	/** Delete a saved address. */
	"DELETE /views/{view}": {
		path: { view: string };
		query: { reason?: string };
		body: undefined;
		answer: ViewChange;
		events: { };
		writes: true;
	};
	/** Save an address under a name, instead of the one that the name had. */
	"PUT /views/{view}": {
		path: { view: string };
		query: { };
		body: SaveViewRequest;
		answer: ViewChange;
		events: { };
		writes: true;
	};
	/** List the workflows, versions and queues that live nodes serve. */
	"GET /workflows": {
		path: { };
		query: { };
		body: undefined;
		answer: Array<Served>;
		events: { };
		writes: false;
	};
	/** Show what live nodes serve of a workflow, with the types of its input, its output and its messages as JSON Schema. */
	"GET /workflows/{workflow}": {
		path: { workflow: string };
		query: { };
		body: undefined;
		answer: Workflow;
		events: { };
		writes: false;
	};
	/** Keep all runs of a workflow from starting steps until it is resumed, and wait for all nodes. */
	"POST /workflows/{workflow}/pause": {
		path: { workflow: string };
		query: { };
		body: PauseWorkflowRequest;
		answer: Scope;
		events: { };
		writes: true;
	};
	/** Let the runs of a workflow go on. The fields are those of its pause. */
	"POST /workflows/{workflow}/resume": {
		path: { workflow: string };
		query: { };
		body: ResumeWorkflowRequest;
		answer: Scope;
		events: { };
		writes: true;
	};
}
