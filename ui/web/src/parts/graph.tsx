import { layout, type Node, path } from "../graph";
import { line, plain } from "./text";

// GraphNode is a box of a picture: a name, a second line in small, and a state that colours it.
export interface GraphNode {
	id: string;
	name: string;
	after?: string[];
	sub?: string;
	word?: string;
	// dashed is what may be left out.
	dashed?: boolean;
}

const nameMax = 34;
const pad = 12;

// Widths are those of the font that the picture is drawn in.
let pen: CanvasRenderingContext2D | null | undefined;

function wide(text: string, size: number): number {
	pen ??= document.createElement("canvas").getContext("2d");
	if (!pen) return text.length * size * 0.6;
	pen.font = `${size}px ${getComputedStyle(document.body).fontFamily}`;
	return pen.measureText(text).width;
}

// Graph draws boxes and what each comes after, from above to below. What it shows stands beside it
// in a table too, for those who do not see it; pick makes boxes buttons.
export function Graph({ label, nodes, picked, pick }: { label: string; nodes: GraphNode[]; picked?: string; pick?: (id: string) => void }) {
	const shown = nodes.map((n) => ({ ...n, name: line(n.name, nameMax), sub: n.sub && line(n.sub, nameMax) }));
	const picture = layout(shown.map((n): Node => ({ id: n.id, after: n.after, width: Math.max(56, wide(n.name, 14), n.sub ? wide(n.sub, 12) : 0) + 2 * pad, height: n.sub ? 42 : 30 })));
	const byID = new Map(shown.map((n, i) => [n.id, { ...n, full: nodes[i]!.name }]));
	const [width, height] = [picture.width + 4, picture.height + 4];
	return (
		<div class="graph" tabIndex={0} role="region" aria-label={label}>
			<svg width={width} height={height} viewBox={`-2 -2 ${width} ${height}`} role={pick ? "group" : "img"} aria-label={label}>
				<g class="lines" aria-hidden="true">
					{picture.lines.map((l) => <path key={l.from + "\n" + l.to} d={path(l.points)} data-from={l.from} data-to={l.to} data-word={byID.get(l.from)!.word} />)}
				</g>
				{picture.places.map((p) => {
					const n = byID.get(p.id)!;
					const act = pick && (() => pick(p.id));
					return (
						<g key={p.id} class={"node" + (n.dashed ? " dashed" : "")} data-id={p.id} data-word={n.word} transform={`translate(${p.x} ${p.y})`}
							role={act && "button"} tabindex={act && 0} aria-pressed={act && picked === p.id} aria-description={act && n.word} onClick={act}
							onKeyDown={act && ((e) => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); act(); } })}>
							{n.full !== n.name && <title>{plain(n.full)}</title>}
							<rect x={-p.width / 2} y={-p.height / 2} width={p.width} height={p.height} rx="5" />
							<text y={n.sub ? -4 : 5}>{n.name}</text>
							{n.sub && <text class="sub" y="13">{n.sub}</text>}
						</g>
					);
				})}
			</svg>
		</div>
	);
}
