package api

import (
	"encoding/json"
	"net/http"
)

// linesType is the type of answers that are lines of JSON.
const linesType = "application/jsonl"

// fail answers with what went wrong.
func fail(w http.ResponseWriter, err error) {
	p := problemOf(err)
	write(w, p.Status, "application/problem+json", &p)
}

// write answers with a JSON value. HTML in texts is escaped, so a browser that is made to show the
// answer as a page finds none in it.
func write(w http.ResponseWriter, status int, kind string, v any) {
	text, err := json.Marshal(v)
	if err != nil { // a time beyond the year 9999
		p := problemOf(refuse(internal, "the answer cannot be written as JSON: %v", err))
		status, kind = p.Status, "application/problem+json"
		text, _ = json.Marshal(&p)
	}
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // a client that has gone does not want it
}
