package ui_test

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/reprise-run/reprise/ui/uitest"
)

var picture = flag.String("picture", "", "file for the README's picture of the dashboard; without one it is thrown away")

// TestPicture makes the README's picture: the shop of examples/order as its program serves it.
//
//	go test ./ui -run TestPicture -picture ../docs/dashboard.png
func TestPicture(t *testing.T) {
	t.Parallel()
	name := *picture
	if name == "" {
		name = filepath.Join(t.TempDir(), "dashboard.png")
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	program := filepath.Join(t.TempDir(), "order")
	if text, err := exec.CommandContext(ctx, "go", "build", "-ldflags=-s -w", "-o", program, "../examples/order").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	c := exec.CommandContext(ctx, program, "-ui", "127.0.0.1:0")
	c.Env = append(os.Environ(), "TMPDIR="+t.TempDir()) // where it keeps its journal: a new one
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	var at string
	for lines.Scan() && !strings.Contains(lines.Text(), "until you interrupt") {
		if rest, ok := strings.CutPrefix(lines.Text(), "The dashboard is "); ok {
			at = rest
		}
	}
	p := uitest.Open(t, uitest.At(at), "runs/key=order:A-0014") // its approval is refused, so the saga undoes what it did
	p.Size(1120, 700)
	p.Await(`document.querySelectorAll("[role=treeitem]").length > 3`)
	taken, err := png.Decode(bytes.NewReader(uitest.Do(p, chromedp.CaptureScreenshot())))
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(f, fewColours(taken)); err != nil {
		t.Error(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	stop()
	_ = c.Wait()
}

// fewColours leaves a picture its 256 commonest colours, which are nearly all that a page has: the
// file is a third as large.
func fewColours(of image.Image) image.Image {
	counts := map[color.RGBA]int{}
	b := of.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			counts[color.RGBAModel.Convert(of.At(x, y)).(color.RGBA)]++
		}
	}
	palette := color.Palette{}
	for c := range counts {
		palette = append(palette, c)
	}
	slices.SortFunc(palette, func(a, b color.Color) int { return counts[b.(color.RGBA)] - counts[a.(color.RGBA)] })
	if len(palette) > 256 {
		palette = palette[:256]
	}
	made := image.NewPaletted(b, palette)
	draw.Draw(made, b, of, b.Min, draw.Src)
	return made
}
