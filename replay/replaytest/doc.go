// Package replaytest tests workflow code against histories, with nothing but the machine: no store,
// no node, no clock.
//
// A run lives for as long as its work does, and code is deployed meanwhile. The new code must do
// what the history says that the old code did, or the run is blocked. So keep histories of real
// runs as files, and replay them in a test:
//
//	func TestHistories(t *testing.T) {
//		var code replaytest.Registry
//		replaytest.Handle(&code, Checkout, checkout, nil)
//		replaytest.Golden(t, &code, "testdata/histories")
//	}
//
// [Golden] fails with the first event at which code and history differ, what each of them has, and
// the line of the code. [Check] does the same for one [History].
//
// # What a check shows
//
// That the code fits the histories that it is checked with, and no more. A history shows one way
// through the code, so keep one for each way that open runs may be on: each branch, each error that
// is handled, each answer that can come late. What a check cannot show, because it is not compared,
// is that inputs of steps and options are still what old runs need.
//
// A new turn that does not do the same on every prefix is code that depends on something else than
// its events: the order of a map, the clock, chance, a variable that outlives the run. That is
// found if it happens in one of the replays, so a check that passes once may fail the next time.
//
// # Where histories come from
//
//   - From a live store: Client.Describe has the run, Client.History its events, [Of] makes a
//     History of them.
//   - From a test with package runtimetest: Env.History.
//   - From a script of what happened, see [Record].
//
// [WriteFile] keeps one, and [Keep] one of which there is none yet. Histories are only added: a
// file that exists is not written again, because it stands for runs that somebody may still have.
//
// # The form of a file
//
// A file is one JSON object with one event a line, so that a diff of two files is a diff of two
// histories:
//
//	{
//	 "format": 1,
//	 "run": {"id":"018f…","workflow":"hello","version":1,"queue":"default","generation":1,"input":{"json":"world"}},
//	 "events": [
//	  {"seq":1,"kind":"RunStarted","time":"2026-01-01T00:00:00Z","issued":["step greet"]},
//	  {"seq":2,"kind":"StepCompleted","time":"2026-01-01T00:00:01Z","cmd":1,"name":"greet","attempt":1,"payload":{"json":"Hello!"}},
//	  {"seq":3,"kind":"RunCompleted","time":"2026-01-01T00:00:01Z","payload":{"json":"Hello!"}}
//	 ]
//	}
//
// Fields without a value are left out. Times are UTC. Fields that are not listed here are refused.
// The same history always gives the same bytes, and bytes in any other layout of the same JSON give
// the same history.
//
//   - The run also has "key" and "labels", and "inboxSeen", the message after which its inbox
//     begins. A child has "parent": "run", "generation" and "cmd" of who started it, and "policy"
//     if that is not to cancel. "rewound" says how a generation began that a retry or reset has
//     made, see journal.Rewound.
//   - An event also has "inbox", the number of the message that it came from, and "link", which
//     chains it to the event before. If the links are there, an edited history is found by them.
//   - "issued" has commands as the journal stores them: "step NAME", "timer DUE NAME", "cancel
//     COMMAND", "child NAME", "send NAME\tRUN", "record NAME\tVALUE", "change NAME", "reply
//     \tMESSAGE". The key of a child follows its name after a tab.
//   - "open": true after "run" says that the run was open after its last event. Code that returns
//     there has lost what it waited for.
//   - A payload is {"json":…} if its bytes are compact JSON, else {"base64":"…"}. "encoding" names
//     one other than JSON, as in {"encoding":"failure","json":…}.
//
// A file is one generation of a run. If another one follows, its last event is RunContinued, and
// the other one's file has the next number in "generation", its own input, and its own "inboxSeen".
//
// The form is part of the project's promise: what this release writes, later ones read.
package replaytest
