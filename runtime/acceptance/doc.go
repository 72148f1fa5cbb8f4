// Package acceptance tests the whole house as its users meet it: several nodes on one database,
// processes that are killed or stopped, servers that go away, code that changes between two
// deployments. Each test is about one thing that has gone wrong somewhere, told in a sentence above
// it. What one machine does with one history is tested in replay, what one node does in runtime.
//
// The main job, with its audit, is the command runtime/acceptance/order.
package acceptance
