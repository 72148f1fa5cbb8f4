import { render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { readOnly, title } from "./client";
import { Help } from "./help";
import { useKeys } from "./keys";
import { find, type Page } from "./page";
import { pages } from "./pages";
import { Empty } from "./parts/empty";
import { Toasts } from "./parts/toast";
import { followed, go, to, usePlace } from "./router";
import { ThemeSwitch } from "./themeswitch";

const inNavigation = pages.filter((p) => p.key);

function App() {
	const place = usePlace();
	const [help, setHelp] = useState(false);
	const [menu, setMenu] = useState(false);
	const main = useRef<HTMLElement>(null);
	const found = find(pages, place.parts);
	const path = place.parts.join("/");
	useEffect(() => {
		document.title = (found ? found.page.title + " · " : "") + title;
		setMenu(false);
	}, [path]);
	useKeys("app", {
		"?": { does: "this help", act: () => setHelp(true) },
		"/": { does: "the filter", act: () => main.current?.querySelector<HTMLInputElement>("[data-filter]")?.select() },
		...Object.fromEntries(inNavigation.map((p) => ["g " + p.key, { does: p.title, act: () => go(to(p.path.split("/"))) }])),
	});
	const skip = (e: Event) => {
		e.preventDefault(); // the document has a base, to which a fragment would lead
		main.current?.focus();
	};
	return (
		<div class="app" onClick={followed}>
			<a class="skip" href="#main" onClick={skip}>Skip to the page</a>
			<header class="side">
				<div class="brand">
					<a href={to([])}><span class="mark" aria-hidden="true">‖:</span> {title}</a>
					<button type="button" class="quiet menu" aria-expanded={menu} aria-controls="nav" onClick={() => setMenu(!menu)}>Menu</button>
				</div>
				<nav id="nav" aria-label="Pages" data-open={menu}>
					<ul>{inNavigation.map((p) => <NavItem key={p.path} page={p} at={place.parts[0] ?? ""} />)}</ul>
					<div class="foot">
						{readOnly && <p class="note">read only</p>}
						<ThemeSwitch />
						<button type="button" class="quiet" onClick={() => setHelp(true)}>Keys <kbd>?</kbd></button>
					</div>
				</nav>
			</header>
			<main id="main" ref={main} tabIndex={-1}>
				{found ? <found.page.view key={found.page.path + JSON.stringify(found.params)} params={found.params} /> : <Nothing />}
			</main>
			<Toasts />
			{help && <Help close={() => setHelp(false)} />}
		</div>
	);
}

function NavItem({ page, at }: { page: Page; at: string }) {
	return <li><a href={to(page.path.split("/").filter(Boolean))} aria-current={at === page.path ? "page" : undefined}>{page.title}</a></li>;
}

function Nothing() {
	return <><h1>No such page</h1><Empty title="There is no page at this address."><p><a href={to(["runs"])}>All runs</a></p></Empty></>;
}

render(<App />, document.getElementById("app")!);
