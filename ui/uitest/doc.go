// Package uitest is for tests of the dashboard in a browser. It serves a store with a run in every
// state, drives headless Chromium, and fails a test when a page logs an error, breaks its policy,
// asks another host, or is found by axe-core to keep somebody out.
//
//	func TestRuns(t *testing.T) {
//		p := uitest.Open(t, uitest.Planted(t), "runs")
//		p.Await(`document.querySelectorAll("tbody tr").length > 10`)
//		p.Accessible()
//		p.Shoot("runs")
//	}
//
// With the flag -shots=DIR, Shoot keeps pictures of the page in both themes and two widths there.
package uitest
