// Package faulty wraps a store and lets its calls fail: before they happen, after they happened, or
// without anybody knowing which.
package faulty
