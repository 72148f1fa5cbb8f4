package postgres

import (
	"sync/atomic"
	"time"
)

// traffic lets calls with small answers go before large ones on the network that a store shares
// with itself: the history of one run may have hundreds of megabytes, and on a slow network every
// claim, load and commit of the others would wait behind as much of it as is on its way, several
// times for each run.
//
// A call is small until its answer turns out to be large. A large answer is read in slices, and
// between two of them its reader gives way while a small call is under way, or was a moment ago:
// most are followed by another one of the same run. It gives way for no longer than its slices took
// to come, all together, so it has half of the network at least, and on a fast network, where a
// slice takes microseconds, it does not give way at all. A small call that takes long waits for
// something else than the network, and nobody gives way to it.
//
// What was sent is on its way whoever reads, and the kernel reads ahead. So a connection that turns
// out to be slow gets a window of what its network carries in a round trip and queueTime: no more
// than that waits on the network in front of others, and the server sends no more while the reader
// gives way. It keeps the window, so it is set once, by the first large answer.
type traffic struct {
	small atomic.Int64 // calls under way whose answers have not turned out to be large
	begun atomic.Int64 // when the last of them began, time.Duration since origin
	ended atomic.Int64 // when the last of them ended; 0 if none has
}

// busy tells whether to give way.
func (t *traffic) busy() bool {
	now, ended := time.Since(origin), t.ended.Load()
	return t.small.Load() > 0 && now-time.Duration(t.begun.Load()) < smallCallTime || ended != 0 && now-time.Duration(ended) < smallCallPause
}

// giveWay returns when nobody needs the network, or after so long.
func (t *traffic) giveWay(most time.Duration) {
	for end := time.Now().Add(most); t.busy(); {
		left := time.Until(end)
		if left < giveWayMin {
			return
		}
		time.Sleep(min(left, giveWayMin))
	}
}

// answer is what a connection has got of the answer to a call. The call's goroutine begins and ends
// it; whoever reads meanwhile, which may be a goroutine of the driver's, takes note.
type answer struct {
	traffic *traffic     // nil on a connection beside the pool
	bytes   atomic.Int64 // since the call began; below 0 without a call

	// Of the reader.
	slice    int           // how much it reads at once of a large answer
	since    time.Time     // when the answer became large
	owed     time.Duration // how long it may give way
	measured bool          // the connection has its window
}

const noCall = -1 << 62

func (a *answer) begin() {
	if a.traffic == nil {
		return
	}
	a.bytes.Store(0)
	a.traffic.begun.Store(int64(time.Since(origin)))
	a.traffic.small.Add(1)
}

// end may be called again.
func (a *answer) end() {
	if a.traffic == nil {
		return
	}
	if n := a.bytes.Swap(noCall); n >= 0 && n < largeAnswer {
		a.traffic.ended.Store(int64(time.Since(origin)))
		a.traffic.small.Add(-1)
	}
}

// large tells whether the answer is large by now.
func (a *answer) large() bool { return a.traffic != nil && a.bytes.Load() >= largeAnswer }

// next is how much to read.
func (a *answer) next(size int) int {
	if !a.large() {
		return size
	}
	if a.slice == 0 {
		a.slice = sliceMax
	}
	return min(size, a.slice)
}

// got takes note of n bytes that took so long to come, and gives way to others if the answer is
// large. rate is above 0 once for a connection, when it is known how many bytes a second come.
func (a *answer) got(n int, took time.Duration) (rate float64) {
	if a.traffic == nil || n <= 0 {
		return 0
	}
	now := a.bytes.Add(int64(n))
	switch {
	case now < largeAnswer:
		return 0
	case now-int64(n) < largeAnswer:
		a.since, a.owed = time.Now(), 0
		a.traffic.small.Add(-1)
		return 0
	case took > sliceTime:
		a.slice = max(a.slice/2, sliceMin)
	case took < sliceTime/4:
		a.slice = min(a.slice*2, sliceMax)
	}
	if !a.measured && now >= measuredAnswer {
		a.measured, rate = true, float64(now-largeAnswer)/max(time.Since(a.since), 1).Seconds()
	}
	if took >= giveWayMin {
		began := time.Now()
		a.owed += took
		a.traffic.giveWay(min(a.owed, giveWayMax))
		a.owed -= time.Since(began)
	}
	return rate
}

// window is what a connection of a slow network with this round trip may have on its way; 0 for as
// much as the kernel likes.
func window(rate float64, roundTrip time.Duration) int {
	if rate <= 0 || rate >= fastNetwork {
		return 0
	}
	return max(int(rate*(roundTrip+queueTime).Seconds()), windowMin)
}
