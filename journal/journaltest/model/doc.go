// Package model runs random programs against a store and against the reference, journal/memory, and compares every answer.
package model
