package callsite

import (
	"errors"
	"testing"
)

// TestRefuseDeep: whoever sees a panic is found below very many calls, too. A goroutine that has
// nobody ends alone.
func TestRefuseDeep(t *testing.T) {
	reason := errors.New("not here")
	var deep func(n int)
	deep = func(n int) {
		if n == 0 {
			Refuse(reason)
		}
		deep(n - 1)
	}
	caught := func() (v any) {
		defer func() { v = recover() }()
		deep(5000)
		return nil
	}
	if v := caught(); v != any(reason) {
		t.Errorf("below a test it panics with %v", v)
	}
	ended := make(chan any)
	go func() {
		defer func() { ended <- recover() }()
		deep(5000)
	}()
	if v := <-ended; v != nil {
		t.Errorf("a goroutine without anybody panics with %v", v)
	}
}
