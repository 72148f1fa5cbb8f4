import { useState } from "preact/hooks";
import { keep } from "./keep";

const themes = ["system", "light", "dark"] as const;

// ThemeSwitch chooses a theme, which theme.ts knows at the next load.
export function ThemeSwitch() {
	const [theme, set] = useState(document.documentElement.dataset.theme ?? "system");
	const choose = (t: string) => {
		set(t);
		if (t === "system") delete document.documentElement.dataset.theme;
		else document.documentElement.dataset.theme = t;
		keep("theme", t === "system" ? undefined : t);
	};
	return (
		<label class="theme">Theme <select value={theme} onChange={(e) => choose(e.currentTarget.value)}>{themes.map((t) => <option key={t}>{t}</option>)}</select></label>
	);
}
