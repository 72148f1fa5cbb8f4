package runtimetest

import "time"

const (
	// leaseLength is the longest that nodes take: each renewal is a moment at which the bubble's
	// clock must stop.
	leaseLength = time.Hour
	// pollEvery is rare for the same reason. Hints in memory are never lost, so nothing waits for a
	// poll.
	pollEvery = 12 * time.Hour
	// warmIdle: parked runs leave memory after a day, so that a test of weeks goes through replay
	// as well.
	warmIdle = 24 * time.Hour
	// drainAtOnce cancels running steps as soon as their node is asked to end: a test that restarts
	// a node wants the interruption.
	drainAtOnce = time.Nanosecond
	// patienceDefault is more than a year, so that what comes once a year comes in time.
	patienceDefault = 400 * 24 * time.Hour
	// restMax is how long a step may continue after the test, by the bubble's clock, before it
	// counts as one that never returns.
	restMax = 400 * 24 * time.Hour
	// logLinesMax is how much of the log a failed test shows.
	logLinesMax = 25
	// crashesMax bounds EveryCrash, whose cost is the square of the number of turns: a scenario of
	// more turns is better split.
	crashesMax = 500
)
