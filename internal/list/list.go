package list

// List is a doubly linked list of elements that hold their own links. The zero List is empty. It
// must not be copied once it has elements, because its owner and the copy would each move one end.
//
// The links are nodes, not elements, and a node knows its element. Of the two other ways, a list
// that asks a method of the element for its links costs twice as much (a call through a type
// parameter is not inlined), and one that computes the place of the links needs package unsafe.
// This one is as fast as a list written by hand, for eight bytes an element.
type List[T any] struct{ first, last *Node[T] }

// Node is the link of an element of type T into a List. The zero Node is in no list. While it is in
// one, neither it nor its element may move.
type Node[T any] struct {
	prev, next *Node[T]
	elem       *T // nil while it is in no list
}

// Next returns the element after this one, nil for the last one and for one that is in no list. Who
// removes elements while walking asks for the next one before.
func (n *Node[T]) Next() *T {
	if n.next == nil {
		return nil
	}
	return n.next.elem
}

// Linked tells whether the node is in a list.
func (n *Node[T]) Linked() bool { return n.elem != nil }

// First returns the oldest element, nil if the list is empty.
func (l *List[T]) First() *T {
	if l.first == nil {
		return nil
	}
	return l.first.elem
}

// Empty tells whether the list has no element.
func (l *List[T]) Empty() bool { return l.first == nil }

// PushBack appends e, of which n is the node. The node must be in no list.
func (l *List[T]) PushBack(n *Node[T], e *T) {
	n.prev, n.next, n.elem = l.last, nil, e
	if l.last == nil {
		l.first = n
	} else {
		l.last.next = n
	}
	l.last = n
}

// Remove takes a node out of the list, which must be the one that it is in.
func (l *List[T]) Remove(n *Node[T]) {
	if n.prev == nil {
		l.first = n.next
	} else {
		n.prev.next = n.next
	}
	if n.next == nil {
		l.last = n.prev
	} else {
		n.next.prev = n.prev
	}
	*n = Node[T]{}
}
