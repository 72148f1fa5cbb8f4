package record

// May says what an actor may do without a run.
type May struct {
	Verbs []string `json:"verbs,omitzero" doc:"verbs that the actor may do, such as bulk cancel; absent if nobody is asked, so that everybody may do everything"`
}
