import type { ComponentChildren } from "preact";

// Empty stands where there is nothing to show, and says why or what to do.
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
	return <div class="empty"><p class="title">{title}</p>{children}</div>;
}
