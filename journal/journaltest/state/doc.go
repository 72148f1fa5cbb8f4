// Package state reads everything that a store shows, and takes out of it what two equal lives do
// not share.
package state
