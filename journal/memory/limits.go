package memory

// answerMax is how many runs or messages one answer tells of. The caller comes back for more.
const answerMax = 1_000
