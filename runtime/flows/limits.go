package flows

// storedMax bounds the hashes that are kept in memory for a client, some 100 bytes each: more than
// programs have flows.
const storedMax = 10_000
