// Package ui is the dashboard, as a handler for programs of users. docs/dashboard.md explains it.
//
//	http.Handle("/reprise/", http.StripPrefix("/reprise", ui.New(client, nil)))
//
// It is pages in HTML and a script, and below api/ the HTTP API of package ui/api, which the pages
// call. What may be done, and what is shown, is decided by the API and its options: a page that
// hides a button only spares its user an answer that refuses. Everything is in the binary; no page
// loads anything from another host, and neither Node nor a network is needed to build it.
//
// The handler knows nothing of where it is mounted: all addresses in it are relative.
package ui

//go:generate go -C web run .
