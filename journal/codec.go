package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"
)

// Payload is bytes and the name of their encoding. Stores keep both exactly.
type Payload struct {
	Encoding string `json:"encoding,omitempty"` // empty means JSON
	Data     []byte `json:"data,omitempty"`
}

// Encodings that the engine itself writes.
const (
	EncodingJSON    = ""
	EncodingFailure = "failure"
)

// Codec turns values into payloads and back. A custom one may encrypt or compress; it should fall
// back to JSON for payloads whose Encoding is empty. Its methods are called from many goroutines,
// and Decode also during replay: it must be a function of its arguments.
type Codec interface {
	Encode(v any) (Payload, error)
	Decode(p Payload, v any) error
}

// JSON is the default codec. As encoding/json it keeps exported fields only; a struct that has
// fields and exports none is refused.
type JSON struct{}

// Encode implements Codec. HTML is not escaped, so that text stays as it was written. An integer in
// a field of type any that would come back as another one is refused, see Decode.
func (JSON) Encode(v any) (Payload, error) {
	if data, ok := encodeScalar(v); ok {
		return Payload{Data: data}, nil
	}
	w := jsonWriters.Get().(*jsonWriter)
	w.buf.Reset()
	if err := w.enc.Encode(v); err != nil {
		return Payload{}, unencodable(v, err)
	}
	data := bytes.Clone(bytes.TrimSuffix(w.buf.Bytes(), []byte{'\n'}))
	if err := checkDigits(data, v); err != nil {
		return Payload{}, err
	}
	if w.buf.Cap() <= jsonWriterBytesMax {
		jsonWriters.Put(w)
	}
	if len(data) == len("{}") && hidden(v) {
		return Payload{}, fmt.Errorf("encode %T: it has no exported fields, so nothing of it would be kept; export them", v)
	}
	return Payload{Data: data}, nil
}

// Decode implements Codec. A payload without bytes leaves v as it is. Numbers that are read into
// any become float64, as with package json; an integer that a float64 does not hold exactly, such
// as a large int64, is refused instead.
func (JSON) Decode(p Payload, v any) error {
	if p.Encoding != EncodingJSON {
		return fmt.Errorf("decode into %T: payload has encoding %q, not JSON", v, p.Encoding)
	}
	if len(p.Data) == 0 || decodeScalar(p.Data, v) {
		return nil
	}
	if err := json.Unmarshal(p.Data, v); err != nil {
		return fmt.Errorf("decode into %T: %w", v, err)
	}
	if err := checkDigits(p.Data, v); err != nil {
		return fmt.Errorf("decode into %T: %w", v, err)
	}
	return nil
}

// jsonWriter is an encoder with the buffer that it fills.
type jsonWriter struct {
	buf bytes.Buffer
	enc *json.Encoder
}

// jsonWriterBytesMax is the largest buffer that is kept.
const jsonWriterBytesMax = 64 << 10

var jsonWriters = sync.Pool{New: func() any {
	w := new(jsonWriter)
	w.enc = json.NewEncoder(&w.buf)
	w.enc.SetEscapeHTML(false)
	return w
}}
