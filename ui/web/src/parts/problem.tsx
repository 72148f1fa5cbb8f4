import type { Problem } from "../api";
import { plain } from "./text";

// ProblemBox says what was refused, and how to go on.
export function ProblemBox({ problem, again }: { problem?: Problem; again?: () => void }) {
	if (!problem) return null;
	const page = /^https:/.test(problem.type) ? problem.type : undefined;
	return (
		<div class="problem" role="alert">
			<strong>{problem.title}</strong>
			<p><bdi>{plain(problem.detail)}</bdi></p>
			{problem.how && <p class="how">{plain(problem.how)}</p>}
			<p class="row">
				{again && <button type="button" onClick={again}>Try again</button>}
				{page && <a href={page} rel="noreferrer noopener" target="_blank">What this means</a>}
			</p>
		</div>
	);
}
