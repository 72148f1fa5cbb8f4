package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// The formats of --output.
const (
	formatTable = "table"
	formatJSON  = "json"
	formatLines = "jsonl"
)

var formats = []string{formatTable, formatJSON, formatLines}

// printer writes results in the format that was asked for.
type printer struct {
	w      io.Writer
	format string
	times
}

// column is one of a table of records: its head, and what of a record stands in it.
type column[R any] struct {
	head string
	cell func(p *printer, r *R) string
}

// printList writes records: as a table, as a JSON list, or as a line each.
func printList[R any](p *printer, columns []column[R], list []R) error {
	switch p.format {
	case formatLines:
		return printLines(p, list)
	case formatJSON:
		if list == nil {
			list = []R{}
		}
		return p.object(list)
	}
	return printTable(p, columns, list)
}

func printLines[R any](p *printer, list []R) error {
	for i := range list {
		if err := p.line(&list[i]); err != nil {
			return err
		}
	}
	return nil
}

// printTable aligns columns by the width of their cells. The last one is not padded.
func printTable[R any](p *printer, columns []column[R], list []R) error {
	rows := make([][]string, 1, len(list)+1)
	for _, c := range columns {
		rows[0] = append(rows[0], c.head)
	}
	for i := range list {
		var row []string
		for _, c := range columns {
			row = append(row, orDash(c.cell(p, &list[i])))
		}
		rows = append(rows, row)
	}
	widths := make([]int, len(columns))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell)
			if i < len(row)-1 {
				line.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2))
			}
		}
		if _, err := fmt.Fprintln(p.w, line.String()); err != nil {
			return err
		}
	}
	return nil
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// printOne writes one record: as text of several lines, or as an object.
func printOne[R any](p *printer, r *R, text func(p *printer, r *R) string) error {
	switch p.format {
	case formatLines:
		return p.line(r)
	case formatJSON:
		return p.object(r)
	}
	_, err := io.WriteString(p.w, text(p, r))
	return err
}

// object writes JSON that people can read.
func (p *printer) object(v any) error {
	e := p.encoder()
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// line writes JSON in one line.
func (p *printer) line(v any) error { return p.encoder().Encode(v) }

func (p *printer) encoder() *json.Encoder {
	e := json.NewEncoder(harmless{p.w})
	e.SetEscapeHTML(false)
	return e
}

// fields are names and values, a line each, for one record as text.
type fields struct{ b strings.Builder }

// add adds a line, unless there is no value.
func (f *fields) add(name, value string) {
	if value != "" && value != "-" {
		fmt.Fprintf(&f.b, "%-12s %s\n", name, value)
	}
}

// head begins a part.
func (f *fields) head(name string) { fmt.Fprintf(&f.b, "\n%s\n", name) }

// item adds a line to a part.
func (f *fields) item(format string, args ...any) { fmt.Fprintf(&f.b, "  "+format+"\n", args...) }
