// The theme is known before anything is drawn: this file is loaded before the page's body, and
// nothing else is in it.
const chosen = (() => {
	try {
		return localStorage.getItem("reprise.theme");
	} catch {
		return null; // a browser may keep nothing
	}
})();
if (chosen === "dark" || chosen === "light") document.documentElement.dataset.theme = chosen;
