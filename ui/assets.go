package ui

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"

	"github.com/reprise-run/reprise/ui/internal/coding"
)

//go:embed assets/app.js assets/app.css assets/theme.js assets/icon.svg
var embedded embed.FS

// assetsFolder is where the files lie below the prefix.
const assetsFolder = "/assets/"

// asset is a file of the pages.
type asset struct {
	address  string // relative to the handler; with a sum, so that it never means anything else
	kind     string // media type
	text     []byte
	squeezed func() []byte // gzip of text, made once; see newAssets
}

// assets are the files by their names and by the last part of their addresses. They never change.
type assets struct{ byName, byAddress map[string]*asset }

// kinds are media types by the ends of names: those of the system differ from one to the next.
var kinds = map[string]string{".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}

// newAssets reads the files. What is committed is plain, and compressed when it is first asked for,
// which takes milliseconds: compressed bytes depend on the release of Go, so a test could not
// compare them with what the sources make.
var newAssets = sync.OnceValue(func() *assets {
	a := &assets{map[string]*asset{}, map[string]*asset{}}
	files, err := embedded.ReadDir("assets")
	if err != nil {
		panic(err) // it is in the binary
	}
	for _, f := range files {
		text, err := embedded.ReadFile("assets/" + f.Name())
		if err != nil {
			panic(err)
		}
		sum := sha256.Sum256(text)
		end := path.Ext(f.Name())
		named := strings.TrimSuffix(f.Name(), end) + "-" + hex.EncodeToString(sum[:8]) + end
		x := &asset{address: assetsFolder[1:] + named, kind: kinds[end], text: text, squeezed: sync.OnceValue(func() []byte { return squeeze(text) })}
		a.byName[f.Name()], a.byAddress[named] = x, x
	}
	return a
})

func squeeze(text []byte) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level exists
	_, _ = w.Write(text)                                  // a buffer takes everything
	_ = w.Close()
	return b.Bytes()
}

// address is where a page finds a file.
func (a *assets) address(name string) string { return a.byName[name].address }

// serve answers with a file, for ever: another one has another address.
func (a *assets) serve(w http.ResponseWriter, r *http.Request, name string) {
	x := a.byAddress[name]
	if x == nil {
		w.Header().Set("Cache-Control", "no-store") // the process may be replaced by one that has it
		http.Error(w, "there is no such file; reload the page", http.StatusNotFound)
		return
	}
	h, text := w.Header(), x.text
	h.Set("Content-Type", x.kind)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Vary", "Accept-Encoding")
	if coding.Accepts(r.Header.Get("Accept-Encoding"), "gzip") {
		text = x.squeezed()
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Content-Length", strconv.Itoa(len(text)))
	if r.Method != http.MethodHead {
		_, _ = w.Write(text)
	}
}
