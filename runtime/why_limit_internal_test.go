package runtime

import "testing"

// A key in a command that people copy is one word for their shell, whatever it is, and is quoted
// only where it has to be.
func TestWordsOfAShell(t *testing.T) {
	for word, want := range map[string]string{
		"azAZ09_-./:@": "azAZ09_-./:@",
		"":             "''",
		"a b":          "'a b'",
		"it's":         `'it'\''s'`,
		"$(x)":         "'$(x)'",
		"ä":            "'ä'",
		"a\nb":         "'a\nb'",
	} {
		if got := shellWord(word); got != want {
			t.Errorf("%q is %s in a command, want %s", word, got, want)
		}
	}
}
