package runtimetest

import "time"

const (
	// leaseLength is the longest that nodes take: each renewal is a moment at which the bubble's clock must stop.
	leaseLength = time.Hour
	// pollEvery is rare for the same reason. Hints in memory are never lost, so nothing waits for a poll.
	pollEvery = 12 * time.Hour
	// warmIdle: parked runs leave memory after a day, so that a test of weeks goes through replay as well.
	warmIdle = 24 * time.Hour
	// drainAtOnce asks steps to stop as soon as their node is told to end.
	drainAtOnce = time.Nanosecond
	// patienceDefault is more than a year, so that what comes once a year comes in time.
	patienceDefault = 400 * 24 * time.Hour
	// restMax is how long a step may go on after the test, by the bubble's clock.
	restMax = 400 * 24 * time.Hour
	// logLinesMax is how much of the log a failed test shows.
	logLinesMax = 25
	// crashesMax bounds EveryCrash: a scenario of more turns is better split.
	crashesMax = 500
)
