package api

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestShared: 200 readers ask once in the time that an answer lasts, which is ten times as long as
// it has taken.
func TestShared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newShared()
		var asked atomic.Int32
		took := time.Millisecond
		read := func(name string) any {
			v, err := s.get(t.Context(), name, sharedFor, time.Minute, func(context.Context) (any, error) {
				time.Sleep(took)
				return asked.Add(1), nil
			})
			if err != nil {
				t.Error(err)
			}
			return v
		}
		const seconds = 100
		var readers sync.WaitGroup
		for range 200 {
			readers.Go(func() {
				for range seconds {
					read("a")
					time.Sleep(time.Second)
				}
			})
		}
		readers.Wait()
		if n := asked.Load(); n < seconds/11 || n > seconds/9 {
			t.Errorf("the answer was made %d times in %d s", n, seconds)
		}
		time.Sleep(time.Hour)
		if n := asked.Load(); n > seconds/9 {
			t.Errorf("without readers it was made %d times", n)
		}
		took = 3 * time.Second
		first := read("a")
		time.Sleep(29 * time.Second)
		if read("a") != first || read("b") == first {
			t.Error("an answer that has taken 3 s does not last for 30 s, or is given for another one")
		}
		time.Sleep(2 * time.Second)
		if read("a") == first {
			t.Error("it lasts for longer")
		}
		took = time.Millisecond
		for i := range 2 * sharedMax {
			read(string(rune('A' + i)))
		}
		if len(s.answers) > sharedMax+1 {
			t.Errorf("%d answers are kept", len(s.answers))
		}
	})
}

// TestSharedFails: an error, and a panic, is told to those who wait and is not kept, and the answer
// comes to the others when the reader who makes it has gone.
func TestSharedFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, boom := newShared(), errors.New("boom")
		try := func(ctx context.Context, how func(context.Context) (any, error)) (v any, err error) {
			defer func() {
				if recover() != nil {
					err = boom
				}
			}()
			return s.get(ctx, "a", sharedFor, time.Minute, how)
		}
		waiters := func(want any, wantErr error) (wait func()) {
			var all sync.WaitGroup
			for range 3 {
				all.Go(func() {
					v, err := try(t.Context(), func(context.Context) (any, error) { return "of a waiter", nil })
					if v != want || !errors.Is(err, wantErr) {
						t.Errorf("a reader who waits gets %v, %v", v, err)
					}
				})
			}
			return all.Wait
		}
		slowly := func(end func() (any, error)) func(context.Context) (any, error) {
			return func(ctx context.Context) (any, error) {
				time.Sleep(time.Second)
				if ctx.Err() != nil {
					t.Error("the end of the reader's context ends the making")
				}
				return end()
			}
		}
		for _, c := range []struct {
			end     func() (any, error)
			want    any
			wantErr error
		}{
			{func() (any, error) { return nil, boom }, nil, boom},
			{func() (any, error) { panic("boom") }, nil, errUnmade},
			{func() (any, error) { return "made", nil }, "made", nil},
		} {
			ctx, leave := context.WithCancel(t.Context())
			var maker sync.WaitGroup
			maker.Go(func() { _, _ = try(ctx, slowly(c.end)) })
			synctest.Wait()
			wait := waiters(c.want, c.wantErr)
			leave()
			wait()
			maker.Wait()
		}
	})
}
