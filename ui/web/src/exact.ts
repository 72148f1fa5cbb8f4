// Exact is a number that JavaScript cannot hold, as it was written.
export class Exact {
	constructor(readonly text: string) {}
	toString() {
		return this.text;
	}
}

// A number with many digits where JSON has values. In a string it may look the same.
const large = /(^|[:,[])(\s*)(-?\d[\d.eE+-]{15,})(?=\s*(?:[,}\]]|$))/g;

// parse reads JSON. Payloads are values of programs, which have numbers of 64 bits: these stay what
// they are. They are taken out of the text before the browser reads it, as strings with a mark that
// nobody can know. The browser's own way to see how a number was written takes twenty times as long
// as to read the text, and histories have megabytes.
export function parse(text: string): unknown {
	if (!/\d{16}/.test(text)) return JSON.parse(text);
	const mark = "\ue002" + Math.random().toString(36).slice(2);
	const parts: string[] = [];
	const strings = quotes(text);
	let last = 0;
	large.lastIndex = 0;
	for (let m = large.exec(text); m; m = large.exec(text)) {
		const [, before, space, number] = m as unknown as [string, string, string, string];
		const from = m.index + before.length + space.length;
		large.lastIndex = from + number.length;
		if (strings(from) || number.replace(/\D/g, "").length <= 15 || String(Number(number)) === number) continue;
		parts.push(text.slice(last, from), `"${mark}${number}"`);
		last = from + number.length;
	}
	if (!last) return JSON.parse(text);
	return exact(JSON.parse(parts.join("") + text.slice(last)), mark);
}

// quotes tells whether a place of a text is in a string. It is asked from left to right.
function quotes(text: string): (at: number) => boolean {
	let seen = 0;
	let inside = false;
	return (at) => {
		for (;;) {
			const q = text.indexOf('"', seen);
			if (q < 0 || q >= at) return inside;
			seen = q + 1;
			let slashes = 0;
			while (inside && text[q - 1 - slashes] === "\\") slashes++;
			if (slashes % 2 === 0) inside = !inside;
		}
	};
}

// exact puts the numbers where their marks are.
function exact(v: unknown, mark: string): unknown {
	if (typeof v === "string") return v.startsWith(mark) ? new Exact(v.slice(mark.length)) : v;
	if (typeof v !== "object" || !v) return v;
	const of = v as Record<string, unknown>;
	for (const k in of) {
		const x = of[k];
		if (typeof x === "string" ? x.startsWith(mark) : typeof x === "object") of[k] = exact(x, mark);
	}
	return v;
}
