// Command bench loads the engine and reports how fast it was and what that cost Postgres.
//
// # Scenarios
//
// A scenario is one kind of load, in a file of its own (scenario_*.go). Some end after a number of
// runs, some after a time. They ask different questions:
//
//   - How much does the engine do at once? start, chain, fanout, children, signal, backlog.
//   - How long does one caller wait? latency, timer.
//   - How much of that is the engine's own? ceiling writes the rows that chain writes, with chain's
//     statements and with nothing around them. The share of chain in it is what the rest of the
//     engine costs.
//   - Does it stay so? replay and parked by size, soak by time, horizon while dead rows cannot be
//     removed, idle without any load.
//   - How soon does work go on after a death? recover kills a process with SIGKILL.
//
// Workflows and steps do nothing, and payloads are one digit, so the engine is all that is
// measured. Nodes run in this process; the driver's CPU time has the engine in it.
//
// # What is counted
//
// A meter reads the counters of Postgres and of the system before and after a stretch, and a result
// has the difference, in total and for each run and step. Rows, bytes, transactions and batch sizes
// do not depend on what else the machine does; rates and times do. So what is to be compared runs
// in one program, in turns: rounds of scenarios, blocks of latency, pieces of ceiling and chain.
// README.md says where each counter comes from, and has the targets, what was reached and what was
// tried.
//
// Each measurement has a database of its own, made before and dropped after it. A tap between the
// engine and its store counts calls and batch sizes and changes nothing.
//
// # Why bench/peers is a second module and shares no code
//
// bench/peers compares Reprise with other engines. It is a module of its own, so that users of
// Reprise do not get its competitors as dependencies. And it shares no measuring code with this
// package, for two reasons. A comparison must not know the inside of one of those that it compares:
// here counters come from a tap in the engine's store and from the engine's own statements, there
// only from outside, the same way for everybody. And the two change for different reasons: this one
// whenever the engine does, that one when a peer has a new release, and its old results must remain
// comparable.
package main
