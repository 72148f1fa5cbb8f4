package record

// May says what an actor may do without a run.
type May struct {
	Verbs []string `json:"verbs" doc:"verbs that the actor may do, such as bulk cancel"`
}
