package replaytest

// Prefixes is prefixes.
var Prefixes = prefixes
