package runtime_test

import (
	"testing"

	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }
