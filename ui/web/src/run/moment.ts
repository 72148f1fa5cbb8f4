// at is a time of the API in milliseconds, with the microseconds that Date leaves out: steps may
// take less than a millisecond.
export function at(iso: string): number {
	const ms = Date.parse(iso);
	const dot = iso.indexOf(".", 18);
	if (dot < 0) return ms;
	const micros = /^\d{3}(\d+)/.exec(iso.slice(dot + 1))?.[1];
	return micros ? ms + Number("0." + micros) : ms;
}

// iso is a time in milliseconds as the API writes it.
export const iso = (ms: number) => new Date(ms).toISOString();

const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000, 1_800_000, 3_600_000, 7_200_000, 21_600_000, 43_200_000, 86_400_000];

// ticks are round distances from a beginning, at most so many of them between two others.
export function ticks(from: number, to: number, most: number): number[] {
	const width = to - from;
	if (!(width > 0)) return [];
	let step = steps.find((s) => width / s <= most) ?? 86_400_000;
	while (width / step > most) step *= 2;
	if (width < most) step = 10 ** Math.ceil(Math.log10(width / most)); // parts of a millisecond
	const list: number[] = [];
	for (let n = Math.ceil(from / step); n * step <= to; n++) list.push(n * step);
	return list;
}

const units: Array<[string, number]> = [["d", 86_400_000], ["h", 3_600_000], ["m", 60_000], ["s", 1000]];

// distance is a tick in words, in as many units as it has.
export function distance(ms: number): string {
	if (ms === 0) return "0";
	if (Math.abs(ms) < 1000) return `${Number(ms.toPrecision(4))} ms`;
	let rest = Math.round(ms);
	const words: string[] = [];
	for (const [name, size] of units) {
		const n = name === "s" ? rest / size : Math.floor(rest / size);
		rest -= Math.floor(n) * size;
		if (n > 0 && words.length < 2) words.push(Number(n.toFixed(3)) + name);
	}
	return words.join(" ");
}

// took is a duration with its parts of a millisecond.
export const took = (ms: number) => (ms < 10 ? `${Number(Math.max(0, ms).toFixed(ms < 1 ? 3 : 2))} ms` : ms < 1000 ? `${Math.round(ms)} ms` : distance(Math.round(ms / (ms < 60_000 ? 10 : 1000)) * (ms < 60_000 ? 10 : 1000)));
