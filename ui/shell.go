package ui

import (
	"bytes"
	"html/template"
	"net/http"
	"strings"
)

// shell is the one document of the dashboard. Its base is the folder that the handler is mounted
// on, as seen from the page's own address, so that every other address is relative to it.
var shell = template.Must(template.New("shell").Parse(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<base href="{{.Base}}">
<title>{{.Title}}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="reprise-title" content="{{.Title}}">
{{- if .ReadOnly}}
<meta name="reprise-read-only" content="true">
{{- end}}
{{- if .Asks}}
<meta name="reprise-asks" content="true">
{{- end}}
<link rel="icon" href="{{.Icon}}" type="image/svg+xml">
<link rel="stylesheet" href="{{.Style}}">
<script src="{{.Theme}}"></script>
<script type="module" src="{{.Script}}"></script>
</head>
<body>
<div id="app"></div>
<noscript><p>The dashboard needs JavaScript. The command reprise shows the same in a terminal.</p></noscript>
</body>
</html>
`))

// shellData is what the document says.
type shellData struct {
	Base, Title, Icon, Style, Theme, Script string
	ReadOnly, Asks                          bool
}

// page answers with the document, for a page so many folders below the handler.
func (h *handler) page(w http.ResponseWriter, r *http.Request, depth int) {
	d := shellData{Base: "./" + strings.Repeat("../", depth), Title: h.o.Title, ReadOnly: h.o.API.ReadOnly, Asks: h.o.API.Allow != nil,
		Icon: h.assets.address("icon.svg"), Style: h.assets.address("app.css"), Theme: h.assets.address("theme.js"), Script: h.assets.address("app.js")}
	var b bytes.Buffer
	if err := shell.Execute(&b, d); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache") // it names assets of this build
	if r.Method != http.MethodHead {
		_, _ = w.Write(b.Bytes()) // who asked is gone if it fails
	}
}
