import type { Page } from "../page";
import { page as audit } from "./audit";
import { one as job, page as bulk } from "./bulk";
import { page as failures } from "./failures";
import { one as flow, page as flows } from "./flows";
import { page as limit } from "./limit";
import { page as limits } from "./limits";
import { page as nodes } from "./nodes";
import { page as overview } from "./overview";
import { page as queues } from "./queues";
import { page as run } from "./run";
import { page as runs } from "./runs";
import { page as schedule } from "./schedule";
import { page as schedules } from "./schedules";
import { page as sets } from "./schedulesets";
import { page as times } from "./scheduletimes";
import { page as workflow } from "./workflow";
import { page as workflows } from "./workflows";

// pages are all pages, those of the navigation in its order.
export const pages: Page[] = [
	overview,
	runs,
	run,
	failures,
	workflows,
	workflow,
	queues,
	limits,
	limit,
	schedules,
	schedule,
	sets,
	times,
	flows,
	flow,
	nodes,
	bulk,
	job,
	audit,
];
