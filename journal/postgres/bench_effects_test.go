package postgres_test

import (
	"strconv"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// BenchmarkChildren commits turns that start children. The figures are for a child.
func BenchmarkChildren(b *testing.B) {
	for _, size := range []int{1, 1_000} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			r := newBencher(b)
			list := r.start(1, "")
			c := &list[0]
			r.turn(list, keep, began())
			r.measure(size, func() {
				c.Starts = nil
				for range size {
					c.Starts = append(c.Starts, journal.Start{Workflow: "child", Input: journal.Payload{Data: []byte("1")},
						Parent: &journal.Parent{Run: c.Run, Generation: 1, Cmd: 1}})
				}
				r.turn(list, keep, stepDone(1, "step"))
			})
		})
	}
}

// BenchmarkTell commits turns that send a signal each, without and with an answer to the sender.
func BenchmarkTell(b *testing.B) {
	for _, cmd := range []journal.Cmd{0, 1} {
		for _, size := range []int{1, 256} {
			b.Run(strconv.Itoa(size)+"/answered="+strconv.FormatBool(cmd > 0), func(b *testing.B) {
				r := newBencher(b)
				list, targets := r.start(size, ""), r.start(size, "")
				r.turn(list, keep, began())
				calls := 0
				r.measure(size, func() {
					calls++
					for i := range list {
						m := journal.Message{Run: targets[size-1-i].Run, Kind: journal.MessageSignal, Name: "s", Cmd: cmd * journal.Cmd(calls),
							Key: "~" + strconv.Itoa(calls)}
						list[i].Messages = []journal.Message{m}
					}
					r.turn(list, keep, stepDone(1, "step"))
				})
			})
		}
	}
}

// BenchmarkChild starts a child by one turn and closes it by another, which tells the parent.
func BenchmarkChild(b *testing.B) {
	const size = 256
	r := newBencher(b)
	parents := r.start(size, "")
	r.turn(parents, keep, began())
	r.measure(size, func() {
		children := make([]driver.Commit, size)
		for i := range parents {
			p := &parents[i]
			child := journal.Start{ID: journal.NewRunID(), Workflow: "flow", Owner: r.node, Parent: &journal.Parent{Run: p.Run, Generation: 1, Cmd: 1}}
			p.Starts = []journal.Start{child}
			told := journal.ChildMessage(child.ID, child.Workflow, child.Parent, new(completed()))
			children[i] = driver.Commit{Run: child.ID, Node: r.node, Fence: journal.FenceAtBirth, Generation: 1,
				Head: journal.Head{Link: journal.OriginOf(child.ID, 1, 0, child.Input)}, Messages: []journal.Message{told}}
		}
		r.turn(parents, keep, stepDone(1, "step"))
		r.turn(children, closing, began("step"), stepDone(1, "step"), completed())
	})
}
