// What a browser keeps for the next visit. One that keeps nothing is no worse off than that.

export function recall(name: string): string | undefined {
	try {
		return localStorage.getItem("reprise." + name) ?? undefined;
	} catch {
		return undefined;
	}
}

export function keep(name: string, value: string | undefined) {
	try {
		if (value === undefined) localStorage.removeItem("reprise." + name);
		else localStorage.setItem("reprise." + name, value);
	} catch {
		// it lasts as long as the page
	}
}
