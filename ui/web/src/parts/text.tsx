// Names, keys and texts of errors come from anybody. They are never HTML, and what does not print,
// or would turn the text around it, is shown as its number.

const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

// The joiner of emoji is one of them, between what it joins.
const joined = /(?<=\p{Extended_Pictographic}\ufe0f?\p{Emoji_Modifier}?)\u200d(?=\p{Extended_Pictographic})/gu;

// plain makes a text fit to be shown in a page's own line.
export function plain(text: string): string {
	if (!hidden.test(text)) return text;
	hidden.lastIndex = 0;
	const kept = text.replace(joined, "\ue000");
	return kept.replace(hidden, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0")).replaceAll("\ue000", "\u200d");
}

// line is a text in one line, as a rule, and not longer than somebody reads.
export function line(text: string, max = 200): string {
	const flat = text.replace(/\s+/g, " ").trim();
	return plain(flat.length > max ? flat.slice(0, max).replace(/[\ud800-\udbff]$/, "") + "…" : flat);
}

// Text shows a text of any kind, apart from the direction of what is around it.
export function Text({ children, max }: { children: string; max?: number }) {
	const short = line(children, max);
	return <bdi title={short.endsWith("…") ? plain(children.slice(0, 4096)) : undefined}>{short}</bdi>;
}

// count is a number with its thousands apart.
export const count = (n: number, capped?: boolean) => n.toLocaleString("en-US") + (capped ? "+" : "");

// many is a number with its noun.
export const many = (n: number, one: string, more = one + "s", capped?: boolean) => `${count(n, capped)} ${n === 1 && !capped ? one : more}`;
