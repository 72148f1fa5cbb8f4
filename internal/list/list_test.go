package list

import (
	"math/rand/v2"
	"slices"
	"testing"
)

type element struct {
	number int
	node   Node[element]
}

func numbers(l *List[element]) (all []int) {
	for e := l.First(); e != nil; e = e.node.Next() {
		all = append(all, e.number)
	}
	return all
}

// backwards reads the list by its other links: both chains must agree.
func backwards(l *List[element]) (all []int) {
	for n := l.last; n != nil; n = n.prev {
		all = append(all, n.elem.number)
	}
	slices.Reverse(all)
	return all
}

// TestList compares the list with a slice over random appends and removals.
func TestList(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var l List[element]
	var want []*element
	for i := range 10_000 {
		if len(want) == 0 || random.IntN(2) == 0 {
			e := &element{number: i}
			l.PushBack(&e.node, e)
			want = append(want, e)
		} else {
			k := random.IntN(len(want))
			l.Remove(&want[k].node)
			if want[k].node.Linked() || want[k].node.Next() != nil {
				t.Fatal("a removed element is still linked")
			}
			want = slices.Delete(want, k, k+1)
		}
		var numbered []int
		for _, e := range want {
			numbered = append(numbered, e.number)
		}
		if got, back := numbers(&l), backwards(&l); !slices.Equal(got, numbered) || !slices.Equal(back, numbered) {
			t.Fatalf("step %d: forwards %v, backwards %v, want %v", i, got, back, numbered)
		}
		if l.Empty() != (len(want) == 0) {
			t.Fatalf("step %d: empty is %v with %d elements", i, l.Empty(), len(want))
		}
	}
}

func TestListAllocates(t *testing.T) {
	var l List[element]
	elements := make([]element, 8)
	allocs := testing.AllocsPerRun(100, func() {
		for i := range elements {
			l.PushBack(&elements[i].node, &elements[i])
		}
		for i := range elements {
			l.Remove(&elements[i].node)
		}
	})
	if allocs != 0 {
		t.Errorf("linking and unlinking %d elements makes %v allocations", len(elements), allocs)
	}
}

// byHand is what List is measured against.
type byHand struct{ first, last *handElement }

type handElement struct {
	number     int
	prev, next *handElement
}

func (l *byHand) push(e *handElement) {
	if e.prev, e.next = l.last, nil; l.last == nil {
		l.first = e
	} else {
		l.last.next = e
	}
	l.last = e
}

func (l *byHand) remove(e *handElement) {
	if e.prev == nil {
		l.first = e.next
	} else {
		e.prev.next = e.next
	}
	if e.next == nil {
		l.last = e.prev
	} else {
		e.next.prev = e.prev
	}
	e.prev, e.next = nil, nil
}

var order = [4]int{2, 0, 3, 1}

func BenchmarkList(b *testing.B) {
	var l List[element]
	elements := make([]element, 4)
	sum := 0
	for b.Loop() {
		for i := range elements {
			l.PushBack(&elements[i].node, &elements[i])
		}
		for e := l.First(); e != nil; e = e.node.Next() {
			sum += e.number
		}
		for _, i := range order {
			l.Remove(&elements[i].node)
		}
	}
}

func BenchmarkListByHand(b *testing.B) {
	var l byHand
	elements := make([]handElement, 4)
	sum := 0
	for b.Loop() {
		for i := range elements {
			l.push(&elements[i])
		}
		for e := l.first; e != nil; e = e.next {
			sum += e.number
		}
		for _, i := range order {
			l.remove(&elements[i])
		}
	}
}
