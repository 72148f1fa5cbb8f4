package ui_test

import (
	"testing"

	"github.com/reprise-run/reprise/ui/uitest"
)

func TestMain(m *testing.M) { uitest.Main(m) }
