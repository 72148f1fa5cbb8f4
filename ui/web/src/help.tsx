import { known } from "./keys";
import { Dialog } from "./parts/dialog";

// Help lists the keys that do something on the page.
export function Help({ close }: { close: () => void }) {
	return (
		<Dialog title="Keys" close={close}>
			<dl class="keys">
				{known().map(({ key, does }) => <div key={key}><dt>{key.split(" ").map((k) => <kbd key={k}>{k}</kbd>)}</dt><dd>{does}</dd></div>)}
				<div><dt><kbd>Esc</kbd></dt><dd>closes what is open</dd></div>
			</dl>
		</Dialog>
	);
}
