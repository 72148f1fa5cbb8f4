package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestApproval runs the program on a real file, by the real clock.
func TestApproval(t *testing.T) {
	var out bytes.Buffer
	r := Request{What: "tea", Remind: 10 * time.Millisecond, Patience: 100 * time.Millisecond}
	if err := run(t.Context(), r, 0, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"mail: please decide: tea\n", "mail: still waiting: tea\n", "mail: too late: tea\n", "refused, because nobody decided\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, &out)
		}
	}
	out.Reset()
	if err := run(t.Context(), Request{What: "tea", Remind: time.Hour, Patience: time.Hour}, time.Millisecond, &out); err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(out.String(), "approved by the boss\n") {
		t.Errorf("the output is:\n%s", &out)
	}
}
