package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

// inputBytesMax bounds what is read from a file or a pipe: more than any limit of payloads, and far
// from what would fill the memory.
const inputBytesMax = 128 << 20

// input reads a JSON value that is given as an argument: the value itself, @FILE, or - for standard
// input. It is checked here, so that nothing is sent if it is no JSON: no node could decode it.
func (c *call) input(what, arg string) (json.RawMessage, error) {
	text, from, err := c.readInput(arg)
	if err != nil {
		return nil, err
	}
	value := json.RawMessage(bytes.TrimSpace(text))
	if err := checkJSON(value); err != nil {
		return nil, failed(ExitUsage, "a text needs its quotes: '\"text\"'; @FILE reads a file, - standard input",
			"%s%s is no JSON, nothing was sent: %v", what, from, err)
	}
	return value, nil
}

// readInput returns what the argument names, and where it is from, for errors.
func (c *call) readInput(arg string) (text []byte, from string, err error) {
	var r io.Reader
	switch name, isFile := strings.CutPrefix(arg, "@"); {
	case arg == "-":
		r, from = c.InOrStdin(), " of standard input"
	case isFile:
		f, err := os.Open(name)
		if err != nil {
			return nil, "", failed(ExitUsage, "", "%v", err)
		}
		defer f.Close()
		r, from = f, " of file "+name
	default:
		return []byte(arg), "", nil
	}
	text, err = io.ReadAll(io.LimitReader(r, inputBytesMax+1))
	if err == nil && len(text) > inputBytesMax {
		err = failed(ExitUsage, "store it elsewhere and pass a reference", "the input%s has more than %d bytes", from, inputBytesMax)
	}
	return text, from, err
}

// checkJSON says what is wrong with a JSON text, and where.
func checkJSON(text []byte) error {
	var value any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if len(text) == 0 {
		return fmt.Errorf("it is empty")
	}
	if err := d.Decode(&value); err != nil {
		return fmt.Errorf("at byte %d: %w", d.InputOffset(), err)
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("at byte %d: something follows the value", d.InputOffset())
	}
	return nil
}
