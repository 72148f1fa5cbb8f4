package api

import "time"

const (
	// timeoutDefault is longer than any answer takes, and short enough for somebody who waits.
	timeoutDefault = 30 * time.Second
	// pollDefault is how often streams look for what nothing has told.
	pollDefault = 4 * time.Second
	// gapMax, gapEach for each different question, and gapShare of the time between two polls at
	// most, is the least that passes between two looks, however many changes are told: a busy store
	// has thousands a second.
	gapShare = 10
	gapMax   = 100 * time.Millisecond
	gapEach  = 25 * time.Millisecond
	// fleetShare is how many times more seldom than runs nodes, pauses and the audit are asked for:
	// they change seldom, and what this process does to them is told.
	fleetShare = 5
	// forgetAfter is how long an answer stays that no stream asks for.
	forgetAfter = time.Minute
	// aliveEvery is how often a silent stream says that it lives: shorter than proxies wait.
	aliveEvery = 15 * time.Second
	// writeMax ends a stream whose reader takes nothing, which would keep its place from others.
	writeMax = time.Minute
	// streamMax ends a stream. Its reader connects again and is asked again who it is, so a right
	// that was taken away holds no longer than this.
	streamMax = 10 * time.Minute
	// streamsMax is how many streams a handler serves at once: each has a connection.
	streamsMax = 256

	// bodyRoom is what a body may have beside a payload.
	bodyRoom = 1 << 20
	// pageDefault is how many runs or entries a page has if nobody says.
	pageDefault = 50
	// watchedMax is how many runs a stream of a list can have: it asks for them again and again.
	watchedMax = 200

	// sharedFor is how long an answer that many readers share is given to them, and sharedShare how
	// many times as long as it has taken: an overview is eight questions, so all readers of it
	// together ask the store less than once a second, and keep it busy for a tenth of the time.
	sharedFor   = 10 * time.Second
	sharedShare = 10
	// lookMax bounds how old an answer is that a reader takes by its header Cache-Control.
	lookMax = time.Minute
	// sharedMax is how many such answers are kept: they differ by what is asked for, and an
	// overview of some runs has up to 31.
	sharedMax = 128
	// overviewMax is how many runs an overview looks at for each of its questions if Allow is set:
	// they are kept for other readers.
	overviewMax = 5_000

	// historyMax is how many events a page of a history has at most. spansDefault and spansMax are
	// how many spans a timeline has: a history of 50,000 events has half as many.
	historyMax   = 10_000
	spansDefault = 10_000
	spansMax     = 50_000

	// scanMax is how many runs one call looks at to find those that the actor may see, and
	// scanPage how many it reads at once.
	scanMax  = 10_000
	scanPage = 200
)
