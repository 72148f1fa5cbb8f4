package ui_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
	"github.com/reprise-run/reprise/ui/uitest"
)

// wrong is what is said to be wrong with a field.
func (p runPage) wrong(label, text string) {
	p.T.Helper()
	p.Await(fmt.Sprintf(`(f => f.ariaInvalid === "true" && document.getElementById(f.getAttribute("aria-describedby").split(" ").at(-1)).innerText.includes(%q))(document.querySelector(%q))`, text, p.field(label)))
}

// TestStartForm: the input of a run is written in the fields that its type has, what is wrong is
// told at its field and keeps the run from being started, and what is sent is what was written.
func TestStartForm(t *testing.T) {
	t.Parallel()
	s := uitest.New(t, nil)
	s.PlantForeign(t)
	p := openRun(t, s, "runs")
	p.AwaitText(".empty", "There are no runs yet.")
	p.Press("n")
	p.Await(`document.querySelector("datalist option[value=pack]")`)
	p.Fill(p.field("Workflow"), "pack")
	p.Await(`document.querySelector("dialog .object")`)
	p.Await(`[...document.querySelector("dialog .object").children].map(c => c.querySelector(c.matches("fieldset") ? "legend" : "label")).filter(e => e).map(e => e.innerText.replace("optional", "").trim()).join(" ") === "to items fragile value weight by note stamps inner"`)
	p.Fill(p.field("name"), "Ä <b>\u202e")
	p.Do(focusOn(`[aria-label="Add items"]`))
	p.Press("\r" + "\r")
	p.Await(`document.querySelectorAll("dialog .element").length === 2`)
	p.Click(`[aria-label="Remove items 2"]`)
	p.Fill(p.field("what"), "a book")
	p.Fill(p.field("count"), "1.5")
	p.wrong("count", "This is no whole number.")
	p.Fill(p.field("count"), "-9007199254740993")
	p.Do(focusOn(p.field("fragile")))
	p.Press(" ")
	p.Fill(p.field("value"), "-1")
	p.wrong("value", "This is less than 0.")
	p.Fill(p.field("value"), "12345678901234567890")
	p.Fill(p.field("weight"), "1,5")
	p.wrong("weight", "This is no number.")
	p.Fill(p.field("by"), "tomorrow")
	p.wrong("by", "This is no time such as")
	p.Fill(p.field("note"), "two\nlines")
	p.Fill(p.field("stamps"), `{"de": "2"}`)
	p.Fill(p.field("inner"), `{"value": 1`) // a type in itself is any value
	p.Fill(p.field("Key"), "packed")
	p.wrong("inner", "This is no JSON.")
	p.wrong("stamps", "de: This is to be a number.")
	p.Accessible()
	p.Shoot("start-form")
	p.Press("\r")                                                                                    // in the field of the key
	p.Await(fmt.Sprintf(`document.activeElement === document.querySelector(%q)`, p.field("weight"))) // the first that is wrong
	if n, _, err := s.Client.Count(clustertest.Context(t), journal.ListFilter{}, 10); err != nil || n != 0 {
		t.Errorf("%d runs, %v: what is wrong was started", n, err)
	}
	p.Fill(p.field("weight"), "1.50")
	p.Fill(p.field("by"), "2026-11-30T08:00:00+01:00")
	p.Fill(p.field("stamps"), `{"de": 2}`)
	p.Fill(p.field("inner"), "")
	p.Fill(p.field("Key"), "packed")
	p.Press("\r")
	p.AwaitText(".toast", "Started")
	checkInput(t, s, "packed", `{"to": {"name": "Ä <b>\u202e"}, "items": [{"what": "a book", "count": -9007199254740993}], "fragile": true, "value": 12345678901234567890,
		"weight": 1.50, "by": "2026-11-30T08:00:00+01:00", "note": "two\nlines", "stamps": {"de": 2}}`)

	// What another program says of its types.
	p.Await(`!document.querySelector("dialog")`)
	p.Press("n")
	p.Await(`document.querySelector("dialog[open]")`)
	p.Fill(p.field("Workflow"), uitest.Foreign)
	p.Await(`document.querySelector("dialog .object")`)
	p.choose(p.field("size"), "large")
	p.AwaitText("dialog .object", "<script>alert(5)</script>")
	p.ClickText("Start")
	p.Await(`!document.querySelector("dialog")`)
	p.Press("n")
	p.Await(`document.querySelector("dialog[open]")`)
	p.Fill(p.field("Workflow"), uitest.Foreign)
	for range 3 { // a type in itself, as far as a form goes
		p.Await(`document.querySelectorAll('dialog [aria-label="Add left"]').length === 1`)
		p.Click(`dialog [aria-label="Add left"]`)
	}
	p.Await(`document.querySelectorAll('dialog .object').length === 4 && !document.querySelector('dialog [aria-label="Add left"]')`)
	p.Fill(p.field("<b>name</b>"), "n")
	p.Fill(p.field("Key"), "grown")
	p.Accessible()
	p.Press("\r")
	p.Await(`!document.querySelector("dialog")`)
	checkInput(t, s, "grown", `{"size": "small", "<b>name</b>": "n", "left": {"size": "small", "<b>name</b>": "", "left": {"size": "small", "<b>name</b>": "", "left": {"size": "small", "<b>name</b>": ""}}}}`)
}

// checkInput compares the input of the run that has a key, number by number as it is written.
func checkInput(t *testing.T, s *uitest.Server, key, want string) {
	t.Helper()
	id, err := s.Client.FindKey(clustertest.Context(t), key)
	if err != nil {
		t.Fatal(err)
	}
	d, err := s.Client.Describe(clustertest.Context(t), id)
	if err != nil {
		t.Fatal(err)
	}
	var is, is2 map[string]any
	if err := decode(string(d.Run.Input.Data), &is); err != nil {
		t.Fatal(err)
	}
	if err := decode(want, &is2); err != nil || !reflect.DeepEqual(is, is2) {
		t.Errorf("the input is %s, want %s (%v)", d.Run.Input.Data, want, err)
	}
}

// TestRunForms: what a run is asked and told is written in fields too, or as JSON if one prefers
// that, and nothing is lost on the way from one to the other.
func TestRunForms(t *testing.T) {
	t.Parallel()
	s := uitest.New(t, nil)
	run, err := runtime.Start(clustertest.Context(t), s.Client, uitest.Pack, uitest.Parcel{}, nil)
	id := clustertest.MustStart(t, run, err).ID()
	clustertest.Described(t, s.Client, id, "it waits", parked)
	p := openRun(t, s, "runs/"+id.String()+"?tab=ask")
	p.Await(`document.querySelector("datalist option[value=weigh]")`)
	p.Fill(p.field("Name"), "weigh")
	p.Fill(p.field("what"), "books")
	p.Fill(p.field("count"), "9007199254740993")
	p.ClickText("Ask")
	p.AwaitText("[aria-label=Answer]", "9007199254740993")
	p.Accessible()
	p.Shoot("run-form")

	p.Click(".ask .choice:nth-of-type(2)")
	p.Fill(p.field("Name"), "move")
	p.Click(`[aria-label="Add street"]`)
	p.Fill(p.field("street 1"), "Strand 1")
	p.Press(kb.Tab + "\r") // takes it away again
	p.Await(`!document.querySelector(".element")`)
	p.Fill(p.field("name"), "Ada")
	p.ClickText("Send and wait for the answer")
	p.AwaitText("[aria-label=Answer]", "true")

	p.Click(".ask .choice:nth-of-type(3)")
	p.Fill(p.field("Name"), "repack")
	p.Fill(p.field("value"), "18446744073709551615")
	p.Click(".typed > .check input")
	p.Await(fmt.Sprintf(`document.querySelector(%q).value.includes('"value": 18446744073709551615')`, p.field("Payload")))
	p.Fill(p.field("Payload"), `{"value": 18446744073709551615, "to": {"name": "Eve"}, "to`)
	p.AwaitText(".ask .wrong", "This is no JSON")
	p.Await(`document.querySelector(".typed > .check input").disabled`)
	p.ClickText("Send")
	p.Await(`document.activeElement.ariaInvalid === "true"`)
	p.Fill(p.field("Payload"), `{"value": 18446744073709551615, "to": {"name": "Eve"}, "items": "none"}`)
	p.Click(".typed > .check input")
	p.Await(fmt.Sprintf(`document.querySelector(%q).value === "18446744073709551615"`, p.field("value")))
	p.wrong("items", "This is to be a list")
	p.ClickText("Send")
	p.Await(fmt.Sprintf(`document.activeElement === document.querySelector(%q)`, p.field("items")))
	p.Fill(p.field("items"), "[]")
	p.Press(kb.Tab) // what was wrong goes, and the button moves
	p.Await(`!document.querySelector(".ask .wrong")`)
	p.ClickText("Send")
	p.word("completed")
	got, err := run.Result(clustertest.Context(t))
	if err != nil || got.To.Name != "Ada" || got.Inner == nil || got.Inner.To.Name != "Eve" || got.Inner.Value != 1<<64-1 {
		t.Errorf("the run has got %+v, %v", got, err)
	}
}

// decode reads JSON with its numbers as they are written.
func decode(text string, v any) error {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	return d.Decode(v)
}
