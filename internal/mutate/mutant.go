package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// mutant is one change of one file: the bytes from start to end become text.
type mutant struct {
	file       string // relative to the root of the tree
	line       int
	operator   string
	start, end int
	old, text  string
	isSQL      bool
}

// name says where the mutant is and what it changes. It is the same in each process that reads the
// same tree, and so the key under which an answer is kept: a mutant of changed code has another.
func (m *mutant) name() string {
	return fmt.Sprintf("%s:%d: %s: %s => %s", m.file, m.line, m.operator, oneLine(m.old), oneLine(m.text))
}

// apply returns the file with the change.
func (m *mutant) apply(source []byte) []byte {
	return slices.Concat(source[:m.start], []byte(m.text), source[m.end:])
}

// oneLine shortens a piece of code for a line of output.
func oneLine(code string) string {
	const most = 160
	code = strings.Join(strings.Fields(code), " ")
	if len(code) > most {
		code = code[:most] + "…"
	}
	return code
}

// mutantsOf returns the mutants of the production code of a folder, in the order of the text.
func mutantsOf(root, folder string) ([]mutant, error) {
	files, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: no Go files", folder)
	}
	var all []mutant
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		source, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		found, err := fileMutants(filepath.ToSlash(filepath.Join(folder, filepath.Base(file))), source)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// fileMutants returns the mutants of one file. Where two operators make the same change, it is one
// mutant: each is as likely to be drawn as any other.
func fileMutants(name string, source []byte) ([]mutant, error) {
	all, err := goMutants(name, source)
	if err != nil {
		return nil, err
	}
	found, err := sqlMutants(name, source)
	if err != nil {
		return nil, err
	}
	all = append(all, found...)
	place := func(a, b mutant) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end), cmp.Compare(a.text, b.text))
	}
	slices.SortStableFunc(all, place)
	return slices.CompactFunc(all, func(a, b mutant) bool { return place(a, b) == 0 }), nil
}

// shuffled returns the mutants in the order in which they are tried. The place of a mutant depends
// on the seed and its own name alone: a larger sample begins with the mutants of a smaller one, and
// the sample of one folder is what the sample of all has of it.
func shuffled(all []mutant, seed uint64) []mutant {
	type placed struct {
		at uint64
		mutant
	}
	order := make([]placed, len(all))
	for i, m := range all {
		hash := sha256.Sum256(fmt.Appendf(nil, "%d %s", seed, m.name()))
		order[i] = placed{binary.BigEndian.Uint64(hash[:]), m}
	}
	slices.SortFunc(order, func(a, b placed) int { return cmp.Compare(a.at, b.at) })
	result := make([]mutant, len(order))
	for i := range order {
		result[i] = order[i].mutant
	}
	return result
}
