// Package filter is the language in which people and programs say which runs they mean:
//
//	workflow = "order" and status in ("failed", "blocked") and total > 100
//	    and closed between -2d and now order by duration desc
//
// [Parse] makes a [Filter] of a text, or an error that names the position and what was expected
// there. journal.ListFilter.Where takes the text. A filter is a value without any behaviour of a
// store: [Filter.Match] says what it means, for one run, in Go, and a store that asks its database
// instead must select the same runs. The grammar and the fields are in docs/finding-runs.md.
//
// # What a condition means
//
// Every condition is true or false; there is no third value. A condition on something that a run
// does not have is false, whatever the operator: a run without a label region matches neither
// region = "de" nor region != "de". "not" turns the answer round, so not region = "de" selects runs
// without a region too. "is set" asks whether there is something.
//
// A field that has several values, such as error.class, matches = if one of them is equal, and !=
// if it has some and none is equal.
//
// # Labels
//
// A label is a text. What it is compared with says how it is read: a number compares with labels
// whose text is a decimal number, a time with labels whose text is a date or an RFC 3339 time of at
// most microseconds, true and false with these two words. A label whose text is no such thing does
// not match, and it never makes a filter fail. Numbers are compared exactly, as decimals.
//
// Prefixes are asked for by "starts with" and not by a pattern: a text that is searched for may
// hold any character, so there is nothing to escape, and each such condition is a range of an
// index.
package filter
