// A picture of nodes and what each comes after, in layers: nobody stands above one that it comes
// after, lines cross seldom, and the same nodes make the same picture. Its cost grows with nodes and
// lines, and nothing here knows the page.

// Node is what is to be placed. Names in after that no node has are left out; a circle is cut.
export interface Node {
	id: string;
	after?: string[];
	width: number;
	height: number;
}

// Place is where the middle of a node is.
export interface Place {
	id: string;
	x: number;
	y: number;
	width: number;
	height: number;
}

// Line leads from the lower side of a node to the upper side of one that comes after it.
export interface Line {
	from: string;
	to: string;
	points: Array<[number, number]>;
}

export interface Picture {
	width: number;
	height: number;
	places: Place[];
	lines: Line[];
}

// Distances between nodes of a layer, and between layers.
const besides = 18;
const below = 34;

// A line that passes a layer has a bend there, which is placed as if it were a narrow node.
interface Cell {
	node?: Node;
	layer: number;
	x: number;
	width: number;
	up: Cell[];
	down: Cell[];
}

// How often the order of layers, and places in them, are improved. More changes little.
const rounds = 8;

// layout places nodes.
export function layout(nodes: Node[]): Picture {
	if (nodes.length === 0) return { width: 0, height: 0, places: [], lines: [] };
	const after = acyclic(nodes);
	const layerOf = layersOf(nodes, after);
	const cells = new Map<string, Cell>();
	const layers: Cell[][] = [];
	const put = (c: Cell) => {
		(layers[c.layer] ??= []).push(c);
		return c;
	};
	for (const n of nodes) cells.set(n.id, put({ node: n, layer: layerOf.get(n.id)!, x: 0, width: n.width, up: [], down: [] }));
	const ways: Array<{ from: Cell; to: Cell; bends: Cell[] }> = [];
	for (const n of nodes) {
		for (const id of after.get(n.id)!) {
			const [from, to] = [cells.get(id)!, cells.get(n.id)!];
			const bends: Cell[] = [];
			let last = from;
			for (let layer = from.layer + 1; layer < to.layer; layer++) {
				const bend = put({ layer, x: 0, width: 2, up: [], down: [] });
				join(last, bend);
				bends.push((last = bend));
			}
			join(last, to);
			ways.push({ from, to, bends });
		}
	}
	order(layers);
	place(layers);
	return drawn(layers, ways);
}

function join(a: Cell, b: Cell) {
	a.down.push(b);
	b.up.push(a);
}

// acyclic returns what each node comes after, without what would close a circle.
function acyclic(nodes: Node[]): Map<string, string[]> {
	const byID = new Map(nodes.map((n) => [n.id, n]));
	const after = new Map<string, string[]>();
	const open = new Set<string>();
	for (const root of nodes) {
		// By hand instead of by recursion: a chain may be as long as there are nodes.
		const path: Array<{ id: string; left: string[] }> = [];
		const enter = (id: string) => {
			open.add(id);
			after.set(id, []);
			path.push({ id, left: [...new Set(byID.get(id)!.after ?? [])].filter((a) => byID.has(a)).reverse() });
		};
		if (!after.has(root.id)) enter(root.id);
		for (let at = path.at(-1); at; at = path.at(-1)) {
			const next = at.left.pop();
			if (next === undefined) {
				open.delete(at.id);
				path.pop();
			} else if (!open.has(next)) {
				after.get(at.id)!.push(next);
				if (!after.has(next)) enter(next);
			}
		}
	}
	return after;
}

// layersOf puts each node one below the lowest that it comes after.
function layersOf(nodes: Node[], after: Map<string, string[]>): Map<string, number> {
	const layer = new Map<string, number>();
	const following = new Map<string, string[]>(nodes.map((n) => [n.id, []]));
	const missing = new Map<string, number>();
	for (const [id, before] of after) {
		missing.set(id, before.length);
		for (const b of before) following.get(b)!.push(id);
	}
	const ready = nodes.map((n) => n.id).filter((id) => missing.get(id) === 0);
	for (const id of ready) layer.set(id, 0);
	for (let i = 0; i < ready.length; i++) {
		const id = ready[i]!;
		for (const f of following.get(id)!) {
			layer.set(f, Math.max(layer.get(f) ?? 0, layer.get(id)! + 1));
			missing.set(f, missing.get(f)! - 1);
			if (missing.get(f) === 0) ready.push(f);
		}
	}
	return layer;
}

// order sorts each layer by the middle of what it is joined with, down and up in turns, and keeps
// the order that has the fewest crossings.
function order(layers: Cell[][]) {
	let best = layers.map((l) => [...l]);
	let least = crossings(layers);
	for (let round = 0; round < rounds && least > 0; round++) {
		const down = round % 2 === 0;
		for (const layer of down ? layers : [...layers].reverse()) {
			const weight = new Map(layer.map((c, i) => [c, middle(down ? c.up : c.down, i)]));
			layer.sort((a, b) => weight.get(a)! - weight.get(b)!);
			number(layer);
		}
		const now = crossings(layers);
		if (now < least) {
			least = now;
			best = layers.map((l) => [...l]);
		}
	}
	best.forEach((l, i) => {
		layers[i] = l;
		number(l);
	});
}

// While layers are sorted, x is a cell's position in its layer.
function number(layer: Cell[]) {
	layer.forEach((c, i) => (c.x = i));
}

function middle(joined: Cell[], otherwise: number): number {
	if (joined.length === 0) return otherwise;
	return joined.reduce((sum, c) => sum + c.x, 0) / joined.length;
}

// crossings counts pairs of lines that cross, layer by layer, by a tree of sums.
function crossings(layers: Cell[][]): number {
	let all = 0;
	for (const layer of layers) number(layer);
	for (let i = 1; i < layers.length; i++) {
		const size = layers[i]!.length;
		const tree = new Int32Array(size + 1);
		let seen = 0;
		for (const upper of layers[i - 1]!) {
			const ends = upper.down.map((c) => c.x);
			for (const end of ends) {
				let notRight = 0;
				for (let k = end + 1; k > 0; k -= k & -k) notRight += tree[k]!;
				all += seen - notRight;
			}
			for (const end of ends) {
				for (let k = end + 1; k <= size; k += k & -k) tree[k]!++;
				seen++;
			}
		}
	}
	return all;
}

// place gives cells their x: each is drawn to the middle of what it is joined with, as far as its
// neighbours let it.
function place(layers: Cell[][]) {
	for (const layer of layers) {
		let x = 0;
		for (const c of layer) {
			c.x = x + c.width / 2;
			x += c.width + besides;
		}
	}
	for (let round = 0; round < rounds; round++) {
		const down = round % 2 === 0;
		for (const layer of down ? layers : [...layers].reverse()) spread(layer, layer.map((c) => middle(down ? c.up : c.down, c.x)));
	}
}

// spread puts cells as near to where they want to be as their order and their widths allow, with
// the least sum of squares: cells that would overlap become one block, which wants the mean.
function spread(layer: Cell[], wanted: number[]) {
	const offsets: number[] = [];
	let offset = 0;
	layer.forEach((c, i) => {
		if (i > 0) offset += (layer[i - 1]!.width + c.width) / 2 + besides;
		offsets.push(offset);
	});
	const blocks: Array<{ sum: number; n: number }> = [];
	wanted.forEach((w, i) => {
		blocks.push({ sum: w - offsets[i]!, n: 1 });
		for (let last = blocks.at(-1)!, before = blocks.at(-2); before && before.sum / before.n > last.sum / last.n; before = blocks.at(-2)) {
			before.sum += last.sum;
			before.n += last.n;
			blocks.pop();
			last = before;
		}
	});
	let i = 0;
	for (const b of blocks) for (let k = 0; k < b.n; k++, i++) layer[i]!.x = b.sum / b.n + offsets[i]!;
}

function drawn(layers: Cell[][], ways: Array<{ from: Cell; to: Cell; bends: Cell[] }>): Picture {
	let left = Infinity;
	let right = -Infinity;
	const tops: number[] = [];
	const heights: number[] = [];
	let y = 0;
	for (const layer of layers) {
		let height = 0;
		for (const c of layer) {
			left = Math.min(left, c.x - c.width / 2);
			right = Math.max(right, c.x + c.width / 2);
			height = Math.max(height, c.node?.height ?? 0);
		}
		tops.push(y);
		heights.push(height);
		y += height + below;
	}
	const at = (c: Cell) => Math.round((c.x - left) * 2) / 2;
	const mid = (c: Cell) => tops[c.layer]! + heights[c.layer]! / 2;
	const places = layers.flat().flatMap((c) => (c.node ? [{ id: c.node.id, x: at(c), y: mid(c), width: c.node.width, height: c.node.height }] : []));
	const lines = ways.map(({ from, to, bends }) => ({
		from: from.node!.id,
		to: to.node!.id,
		points: [
			[at(from), mid(from) + from.node!.height / 2],
			...bends.flatMap((b) => [[at(b), tops[b.layer]!], [at(b), tops[b.layer]! + heights[b.layer]!]]),
			[at(to), mid(to) - to.node!.height / 2],
		] as Array<[number, number]>,
	}));
	return { width: right - left, height: y - below, places, lines };
}

// path is a line for the attribute d of an SVG path: it leaves and arrives upright.
export function path(points: Array<[number, number]>): string {
	let d = `M${points[0]![0]} ${points[0]![1]}`;
	for (let i = 1; i < points.length; i++) {
		const [[x0, y0], [x1, y1]] = [points[i - 1]!, points[i]!];
		const half = (y0 + y1) / 2;
		d += x0 === x1 ? `V${y1}` : `C${x0} ${half} ${x1} ${half} ${x1} ${y1}`;
	}
	return d;
}
