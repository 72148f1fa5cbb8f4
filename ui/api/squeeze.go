package api

import (
	"compress/gzip"
	"net/http"
	"sync"

	"github.com/reprise-run/reprise/ui/internal/coding"
)

// squeezeMin is the least length of an answer that is compressed: a short one is in one packet
// anyway.
const squeezeMin = 1400

// squeezer compresses an answer that is long enough, for a client that takes gzip. The first write
// decides, so an answer that is written at once is judged by its length, and lines by the first of
// them. Streams are not compressed: each of their events is to be there when it happens.
type squeezer struct {
	http.ResponseWriter
	lines bool // whatever its length: more comes
	code  int
	began bool
	zip   *gzip.Writer // nil for an answer that is not compressed
}

// zips are writers that wait for their next answer: each has some hundred kilobytes.
var zips = sync.Pool{New: func() any {
	w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // the level exists
	return w
}}

// squeeze returns a writer for the answer to a request, and what ends the answer. An answer that
// is cut off must not be ended.
func squeeze(w http.ResponseWriter, r *http.Request, lines bool) (http.ResponseWriter, func()) {
	w.Header().Add("Vary", "Accept-Encoding")
	if r.Method == http.MethodHead || !coding.Accepts(r.Header.Get("Accept-Encoding"), "gzip") {
		return w, func() {}
	}
	s := &squeezer{ResponseWriter: w, lines: lines, code: http.StatusOK}
	return s, s.end
}

// WriteHeader keeps the status until the length is known.
func (s *squeezer) WriteHeader(code int) { s.code = code }

func (s *squeezer) Write(b []byte) (int, error) {
	s.begin(len(b))
	if s.zip != nil {
		return s.zip.Write(b)
	}
	return s.ResponseWriter.Write(b)
}

func (s *squeezer) begin(length int) {
	if s.began {
		return
	}
	s.began = true
	if s.lines && length > 0 || length >= squeezeMin {
		s.Header().Set("Content-Encoding", "gzip")
		s.zip = zips.Get().(*gzip.Writer)
		s.zip.Reset(s.ResponseWriter)
	}
	s.ResponseWriter.WriteHeader(s.code)
}

// end writes what is left. A client that has gone does not want it.
func (s *squeezer) end() {
	s.begin(0)
	if s.zip != nil {
		_ = s.zip.Close()
		s.zip.Reset(nil)
		zips.Put(s.zip)
	}
}

// Unwrap is for http.ResponseController, which sets deadlines of writes.
func (s *squeezer) Unwrap() http.ResponseWriter { return s.ResponseWriter }
