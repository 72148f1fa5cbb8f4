// Package list has the two containers that the engine needs and the standard library lacks: a
// linked list that allocates nothing for an element, and a queue that gives back what it no longer
// needs.
//
// container/list allocates a node for each element and holds values as any. Strands, waiters,
// scopes and commands are linked and unlinked for every turn of every run, so their links are part
// of them: a type that can be in a list has a field of type Node, and one Node is in at most one
// list.
//
// Neither container locks. Their owner does, or has one goroutine.
package list
