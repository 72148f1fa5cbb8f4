package main

import (
	"testing"
)

// TestBiggerTypesOnlyShrink compares the sizes that are allowed with those of today.
func TestBiggerTypesOnlyShrink(t *testing.T) {
	t.Parallel()
	sizes := map[string]int{}
	for _, u := range thisModule(t).units {
		c, err := thisModule(t).measure(u)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range c.types {
			sizes[s.folder+"."+s.name] = max(s.methods, s.fields)
		}
	}
	for name, b := range bigger {
		switch {
		case b.why == "":
			t.Errorf("%s: say why it may be bigger", name)
		case sizes[name] < b.size:
			t.Errorf("%s: is down to %d: write that into the list, or take it out", name, sizes[name])
		}
	}
}
