package postgres

import (
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// carried is a connection of a network that carries so many bytes a second.
type carried struct {
	net.Conn
	rate float64
}

func (c carried) Read(b []byte) (int, error) {
	time.Sleep(time.Duration(float64(len(b)) / c.rate * float64(time.Second)))
	return len(b), nil
}

func connOfRate(rate float64, t *traffic) *moving {
	m := &moving{Conn: carried{rate: rate}, answer: answer{traffic: t}}
	m.answer.bytes.Store(noCall)
	return m
}

// answered reads an answer of this size, and returns how long that took, in times that the network
// takes.
func answered(t *testing.T, m *moving, size int) float64 {
	t.Helper()
	began := time.Now()
	m.answer.begin()
	for buf := make([]byte, 16<<10); size > 0; {
		n, err := m.Read(buf[:min(size, len(buf))])
		if err != nil {
			t.Fatal(err)
		}
		size -= n
	}
	m.answer.end()
	return time.Since(began).Seconds()
}

// A large answer on a slow network leaves half of it to small calls while there are some, all of it
// to a single one, and nothing when there are none.
func TestLargeAnswersGiveWay(t *testing.T) {
	const rate, size = 5e6, 4 << 20
	ideal := size / rate
	for _, c := range []struct {
		what        string
		rate        float64
		each, pause time.Duration // of the small calls; 0 for none
		least, most float64
	}{
		{"alone", rate, 0, 0, 1, 1.01},
		{"beside small calls without a pause", rate, 5 * time.Millisecond, 0, 1.8, 2.05},
		{"beside small calls that follow each other", rate, 5 * time.Millisecond, smallCallPause / 2, 1.8, 2.05},
		{"beside some small calls", rate, 5 * time.Millisecond, 45 * time.Millisecond, 1.05, 1.3},
		{"beside a small call that waits for something else", rate, time.Hour, 0, 1, 1.2},
		{"on a fast network", 1e9, 5 * time.Millisecond, 0, 1, 1.2},
	} {
		synctest.Test(t, func(t *testing.T) {
			var all traffic
			var calls sync.WaitGroup
			over := make(chan struct{})
			if c.each > 0 {
				calls.Go(func() {
					small := connOfRate(c.rate, &all)
					for {
						small.answer.begin()
						select {
						case <-over:
							small.answer.end()
							return
						case <-time.After(c.each):
						}
						small.answer.end()
						time.Sleep(c.pause)
					}
				})
			}
			took := answered(t, connOfRate(c.rate, &all), size) / (ideal * rate / c.rate)
			if took < c.least || took > c.most {
				t.Errorf("%s: %.2f times as long as the network takes, want %.2f to %.2f", c.what, took, c.least, c.most)
			}
			close(over)
			calls.Wait()
			if n := all.small.Load(); n != 0 {
				t.Errorf("%s: %d small calls are left", c.what, n)
			}
		})
	}
}

// A small call waits for no more than one slice of a large answer.
func TestSlicesAreShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, buf := connOfRate(5e6, &traffic{}), make([]byte, 1<<20)
		m.answer.begin()
		for read := 0; read < 2*largeAnswer; {
			n, _ := m.Read(buf[:min(len(buf), 64<<10)])
			read += n
		}
		if n, _ := m.Read(buf); n != sliceMin {
			t.Errorf("a slice of a slow network has %d bytes", n)
		}
		m.Conn = carried{rate: 1e9}
		for range 10 {
			_, _ = m.Read(buf)
		}
		if n, _ := m.Read(buf); n != sliceMax {
			t.Errorf("a slice of a fast network has %d bytes", n)
		}
	})
}

// What is small counts as a call while it lasts, once, and only on connections of the pool.
func TestSmallCallsAreCounted(t *testing.T) {
	var all traffic
	m, beside := connOfRate(1e9, &all), &moving{Conn: carried{rate: 1e9}}
	want := func(what string, n int64) {
		t.Helper()
		if got := all.small.Load(); got != n {
			t.Errorf("%s: %d small calls, want %d", what, got, n)
		}
	}
	read := func(m *moving, n int) {
		for range n {
			if _, err := m.Read(make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
		}
	}
	m.answer.begin()
	read(m, 10)
	want("under way", 1)
	m.answer.end()
	m.answer.end()
	want("ended twice", 0)
	read(m, 10)
	want("between two calls", 0)
	m.answer.begin()
	want("the next one", 1)
	_, _ = m.Conn.Read(nil)
	m.answer.got(largeAnswer, 1)
	want("it is large", 0)
	m.answer.end()
	want("it has ended", 0)
	beside.answer.begin()
	beside.answer.got(largeAnswer, 1)
	beside.answer.end()
	want("beside the pool", 0)
}

// A connection gets its window once, by what its network carries.
func TestWindows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &answer{traffic: &traffic{}}
		a.begin()
		var rates []float64
		for range 2 * measuredAnswer / sliceMin {
			time.Sleep(time.Millisecond)
			if r := a.got(sliceMin, time.Millisecond); r > 0 {
				rates = append(rates, r)
			}
		}
		if len(rates) != 1 || rates[0] < 0.98*sliceMin*1000 || rates[0] > 1.02*sliceMin*1000 {
			t.Errorf("rates %v, want one of %d bytes a second", rates, sliceMin*1000)
		}
	})
	for _, c := range []struct {
		rate      float64
		roundTrip time.Duration
		want      int
	}{{5e6, 0, 20_000}, {5e6, 36 * time.Millisecond, 200_000}, {1e5, 0, windowMin}, {fastNetwork, time.Hour, 0}, {0, time.Hour, 0}} {
		if got := window(c.rate, c.roundTrip); got != c.want {
			t.Errorf("%.0f bytes a second, a round trip of %s: a window of %d, want %d", c.rate, c.roundTrip, got, c.want)
		}
	}
}
