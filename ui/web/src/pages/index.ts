import type { Page } from "../page";
import { page as runs } from "./runs";

// pages are all pages, those of the navigation in its order.
export const pages: Page[] = [
	{ ...runs, path: "", key: undefined }, // until there is an overview
	runs,
];
