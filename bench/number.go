package main

import (
	"strconv"
	"strings"
)

// number prints with the digits that mean something.
func number(v float64) string {
	switch abs := max(v, -v); {
	case v == float64(int64(v)) && abs < 1e15, abs >= 1000:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case abs >= 1:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// words is a name as people write it.
func words(name string) string { return strings.ReplaceAll(name, "_", " ") }
