// Package api is an HTTP API with the verbs of the command reprise, as a handler for programs of
// users. docs/http-api.md explains it to those who call it, docs/openapi.json describes it to
// programs.
//
//	http.Handle("/reprise/", http.StripPrefix("/reprise", api.New(client, &api.Options{Auth: whoCalls})))
//
// It answers with the records of package ui/record, which are those of the command, and refuses
// with problem details (RFC 9457). It needs a client and nothing else: no back end, no command and
// no router comes into the build. The handler may be mounted under any prefix that is stripped.
//
// # Who may do what
//
// Options.Auth says who calls. Without it everybody may call, and the audit has [Anonymous]. That
// name goes with each call into the audit (runtime.WithActor). Options.Allow is asked before each
// call, by the verb of the command, and for each run that a call shows: a run that an actor may not
// see (the verb [See]) is for this actor none. It is not listed, not counted, and not told apart
// from one that does not exist. Options.ReadOnly refuses all that writes.
//
// A call from another web site that a browser makes in its user's name is refused by
// http.CrossOriginProtection: nothing that writes is a GET, so there is no token to carry about.
//
// # What is shown
//
// Payloads are decoded here, by the codec of the client's journal. Options.HideInputs and
// Options.Redact decide what of them leaves the process. Keys, labels, reasons and the sentences
// that explain a run are shown as they are.
package api
