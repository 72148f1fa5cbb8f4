package ui

import (
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/ui/api"
)

// handler is the dashboard. Nothing in it changes but what the API has open.
type handler struct {
	o      Options
	api    http.Handler
	assets *assets
}

// apiFolder is where the API lies below the prefix.
const apiFolder = "/api"

// New returns the dashboard of a client's journal. There is nothing to close. o may be nil.
func New(client *runtime.Client, o *Options) http.Handler {
	h := &handler{o: o.withDefaults(), assets: newAssets()}
	h.api = http.StripPrefix(apiFolder, api.New(client, &h.o.API))
	return h
}

// ServeHTTP leaves every path to the API, the assets or the pages, which find out in the browser
// what they show. A router may have stripped a prefix from the path or not.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r = h.strip(r)
	escaped := r.URL.EscapedPath()
	if strings.HasPrefix(escaped, apiFolder+"/") {
		h.api.ServeHTTP(w, r)
		return
	}
	protect(w.Header())
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "a page is only read: "+apiFolder[1:]+"/openapi.json lists what can be called", http.StatusMethodNotAllowed)
		return
	}
	switch name, isAsset := strings.CutPrefix(escaped, assetsFolder); {
	case isAsset:
		h.assets.serve(w, r, name)
	case escaped == "":
		toFolder(w, r)
	case escaped[0] != '/' || path.Clean(escaped) != escaped:
		http.NotFound(w, r)
	default:
		h.page(w, r, strings.Count(escaped, "/")-1)
	}
}

// strip returns the request without Options.Prefix.
func (h *handler) strip(r *http.Request) *http.Request {
	prefix := strings.TrimRight(h.o.Prefix, "/")
	rest, had := strings.CutPrefix(r.URL.Path, prefix)
	if prefix == "" || !had || rest != "" && rest[0] != '/' {
		return r
	}
	c := *r
	c.URL = new(url.URL)
	*c.URL = *r.URL
	c.URL.Path = rest
	// The escaped path may write the prefix in another way: as many parts of it are left out.
	for range strings.Count(prefix, "/") {
		_, c.URL.RawPath, _ = strings.Cut(strings.TrimPrefix(c.URL.RawPath, "/"), "/")
		if c.URL.RawPath != "" {
			c.URL.RawPath = "/" + c.URL.RawPath
		}
	}
	return &c
}

// toFolder leads from /reprise to /reprise/, from where relative addresses lead below the prefix.
// What the prefix is called is known from the address that the browser has asked for.
func toFolder(w http.ResponseWriter, r *http.Request) {
	asked, query, _ := strings.Cut(r.RequestURI, "?")
	name := path.Base(asked)
	if name == "." || name == "/" {
		name = "."
	}
	to := "./" + name + "/" // with "./", a name with a colon is no scheme
	if query != "" {
		to += "?" + query
	}
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusMovedPermanently)
}

// protect sets the headers that all answers but those of the API have. The policy lets a browser
// load and call what is here, execute no script but our files, and treat no text as HTML.
func protect(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'self'; base-uri 'self'; form-action 'none'; frame-ancestors 'none'; object-src 'none'; "+
		"require-trusted-types-for 'script'; trusted-types 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
}
