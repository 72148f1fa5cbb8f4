// Package model runs random programs against a store and against the reference, journal/memory, and
// compares every answer, and the whole state every few steps.
//
// A program is a list of steps that name runs, nodes and keys by small numbers, so that they meet
// each other often, and say what to do relative to what there is: "the owner's next commit", not
// "fence 3". Any part of a program is therefore a program, and one that shows a difference can be
// shrunk by leaving steps out.
//
// What is compared is what callers branch on. Ids of nodes and times differ between two stores and
// are replaced by what they mean, see package state.
package model
