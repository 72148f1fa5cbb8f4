package replaytest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
)

// format is the version of the form. A form that older releases could misread gets the next number.
const format = 1

// payloadDepth is how deep payloads stand in a file, with some room. encoding/json limits how
// deep values may nest, so a payload that is nested deeper than the limit less this is written as
// base64.
const payloadDepth = 8

// The forms are what is written, field by field in the order of the file. They are types of their
// own, so that renaming a field of the engine cannot change a file: files outlive releases. Times
// are written by encoding/json with as many digits as they have, which for times of events is at
// most six.
type (
	fileForm struct {
		Format int         `json:"format"`
		Run    runForm     `json:"run"`
		Open   bool        `json:"open,omitempty"`
		Events []eventForm `json:"events"`
	}
	runForm struct {
		ID         journal.RunID      `json:"id"`
		Key        string             `json:"key,omitempty"`
		Workflow   string             `json:"workflow"`
		Version    int32              `json:"version"`
		Queue      string             `json:"queue"`
		Labels     map[string]string  `json:"labels,omitempty"`
		Headers    map[string]string  `json:"headers,omitempty"`
		StartAt    time.Time          `json:"startAt,omitzero"`
		Deadline   time.Time          `json:"deadline,omitzero"`
		OnFailure  string             `json:"onFailure,omitempty"`
		Generation journal.Generation `json:"generation"`
		InboxSeen  journal.InboxSeq   `json:"inboxSeen,omitempty"`
		Rewound    *journal.Rewound   `json:"rewound,omitempty"`
		Parent     *parentForm        `json:"parent,omitempty"`
		Input      *payloadForm       `json:"input,omitempty"`
	}
	parentForm struct {
		Run        journal.RunID       `json:"run"`
		Generation journal.Generation  `json:"generation"`
		Cmd        journal.Cmd         `json:"cmd"`
		Policy     journal.ClosePolicy `json:"policy,omitempty"`
	}
	eventForm struct {
		Seq     journal.Seq      `json:"seq"`
		Kind    string           `json:"kind"`
		Time    time.Time        `json:"time"`
		Cmd     journal.Cmd      `json:"cmd,omitempty"`
		Inbox   journal.InboxSeq `json:"inbox,omitempty"`
		Name    string           `json:"name,omitempty"`
		Attempt int32            `json:"attempt,omitempty"`
		Payload *payloadForm     `json:"payload,omitempty"`
		Issued  []string         `json:"issued,omitempty"`
		Link    linkForm         `json:"link,omitempty"`
	}
	// linkForm is 16 hexadecimal digits: a JSON number would lose some of a link's bits. A file may
	// leave links out, and then its chain is not checked.
	linkForm    journal.Link
	payloadForm struct {
		Encoding string          `json:"encoding,omitempty"`
		JSON     json.RawMessage `json:"json,omitempty"`
		Base64   []byte          `json:"base64,omitempty"`
	}
)

// Marshal returns the history in the form that the package documentation describes. The same
// history gives the same bytes. It fails for what no store can hold: text that is not UTF-8, an
// unknown kind of event, a year that has five digits.
func Marshal(h *History) ([]byte, error) {
	var b bytes.Buffer
	run, err := oneLine(runOf(&h.Run))
	if err != nil {
		return nil, fmt.Errorf("history: run: %w", err)
	}
	if err := checkTexts(&h.Run); err != nil {
		return nil, fmt.Errorf("history: run: %w", err)
	}
	fmt.Fprintf(&b, "{\n \"format\": %d,\n \"run\": %s,\n", format, run)
	if h.Open {
		b.WriteString(" \"open\": true,\n")
	}
	b.WriteString(" \"events\": [")
	for i := range h.Events {
		text, err := marshalEvent(&h.Events[i])
		if err != nil {
			return nil, fmt.Errorf("history: event %d: %w", h.Events[i].Seq, err)
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n  " + text)
	}
	b.WriteString("\n ]\n}\n")
	return b.Bytes(), nil
}

// marshalEvent checks that each command can be read again before it writes the event: a history
// that cannot be read is of no use.
func marshalEvent(ev *journal.Event) (string, error) {
	if !ev.Kind.Known() {
		return "", fmt.Errorf("%s: %w", ev.Kind, replay.ErrUnknownKind)
	}
	e := eventForm{
		Seq: ev.Seq, Kind: ev.Kind.String(), Time: ev.Time.UTC(), Cmd: ev.Cmd, Inbox: ev.Inbox, Name: ev.Name, Attempt: ev.Attempt,
		Payload: payloadOf(ev.Payload), Link: linkForm(ev.Link),
	}
	for _, c := range ev.Issued {
		e.Issued = append(e.Issued, c.String())
		if again, err := parseIssued(c.String()); err != nil || again.String() != c.String() {
			return "", fmt.Errorf("command %q: %w", c.String(), journal.ErrInvalid)
		}
	}
	if err := validText(append(e.Issued, ev.Name, ev.Payload.Encoding)...); err != nil {
		return "", err
	}
	return oneLine(e)
}

// checkTexts refuses texts of the run that JSON would change silently.
func checkTexts(run *replay.Info) error {
	texts := []string{run.Key, run.Workflow, run.Queue, run.OnFailure, run.Input.Encoding}
	for _, m := range []map[string]string{run.Labels, run.Headers} {
		texts = slices.AppendSeq(slices.AppendSeq(texts, maps.Keys(m)), maps.Values(m))
	}
	return validText(texts...)
}

// validText refuses what encoding/json would replace by U+FFFD.
func validText(texts ...string) error {
	for _, s := range texts {
		if !utf8.ValidString(s) {
			return fmt.Errorf("%q is not UTF-8: %w", s, journal.ErrInvalid)
		}
	}
	return nil
}

// oneLine encodes v without a line break. HTML is left as it is: files are for people.
func oneLine(v any) (string, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "", err
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// runOf and info are inverses: what is not in the form is not known to a replay.
func runOf(i *replay.Info) runForm {
	f := runForm{
		ID: i.Run, Key: i.Key, Workflow: i.Workflow, Version: i.Version, Queue: i.Queue, Labels: i.Labels, Generation: i.Generation,
		Headers: i.Headers, StartAt: i.StartAt.UTC(), Deadline: i.Deadline.UTC(), OnFailure: i.OnFailure,
		InboxSeen: i.InboxSeen, Rewound: i.Rewound, Input: payloadOf(i.Input),
	}
	if p := i.Parent; p != nil {
		f.Parent = &parentForm{Run: p.Run, Generation: p.Generation, Cmd: p.Cmd, Policy: p.Policy}
	}
	return f
}

func (f *runForm) info() (replay.Info, error) {
	i := replay.Info{
		Run: f.ID, Key: f.Key, Workflow: f.Workflow, Version: f.Version, Queue: f.Queue, Labels: f.Labels, Generation: f.Generation,
		Headers: f.Headers, StartAt: f.StartAt, Deadline: f.Deadline, OnFailure: f.OnFailure,
		InboxSeen: f.InboxSeen, Rewound: f.Rewound,
	}
	if p := f.Parent; p != nil {
		i.Parent = &journal.Parent{Run: p.Run, Generation: p.Generation, Cmd: p.Cmd, Policy: p.Policy}
	}
	var err error
	i.Input, err = f.Input.payload()
	return i, err
}

// payloadOf returns nil for a payload without bytes and encoding, so that the field is left out.
func payloadOf(p journal.Payload) *payloadForm {
	switch {
	case len(p.Data) == 0 && p.Encoding == "":
		return nil
	case readable(p.Data):
		return &payloadForm{Encoding: p.Encoding, JSON: p.Data}
	}
	return &payloadForm{Encoding: p.Encoding, Base64: p.Data}
}

// readable tells whether bytes come back as they are if they are written as JSON into a file:
// they are valid, compact, and not nested so deep that encoding/json refuses the file around
// them.
func readable(data []byte) bool {
	if !utf8.Valid(data) || !json.Valid(data) {
		return false
	}
	nested := strings.Repeat("[", payloadDepth) + string(data) + strings.Repeat("]", payloadDepth)
	return json.Valid([]byte(nested)) && bytes.Equal(compact(data), data)
}

// compact returns JSON without spaces, nil if it is not valid.
func compact(data []byte) []byte {
	var b bytes.Buffer
	if err := json.Compact(&b, data); err != nil {
		return nil
	}
	return b.Bytes()
}

// Unmarshal reads what Marshal wrote, in any layout of the same JSON. It refuses fields that it
// does not know, because a field that is ignored may be what makes the history another one, and a
// format that a newer release wrote.
func Unmarshal(data []byte) (*History, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	var f fileForm
	if err := dec.Decode(&f); err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("history: there is more after the end")
	}
	if f.Format != format {
		return nil, fmt.Errorf("history: format is %d, this release reads %d", f.Format, format)
	}
	h := &History{Open: f.Open}
	var err error
	if h.Run, err = f.Run.info(); err != nil {
		return nil, fmt.Errorf("history: input: %w", err)
	}
	for i := range f.Events {
		ev, err := f.Events[i].event()
		if err != nil {
			return nil, fmt.Errorf("history: event %d: %w", f.Events[i].Seq, err)
		}
		h.Events = append(h.Events, ev)
	}
	return h, nil
}

// event is the inverse of marshalEvent. Kinds are written by name: numbers say nothing to people.
func (e *eventForm) event() (journal.Event, error) {
	ev := journal.Event{Seq: e.Seq, Time: e.Time.UTC(), Cmd: e.Cmd, Inbox: e.Inbox, Name: e.Name, Attempt: e.Attempt,
		Link: journal.Link(e.Link)}
	for kind, name := range journal.Kinds() {
		if name == e.Kind {
			ev.Kind = kind
		}
	}
	if ev.Kind == 0 {
		return ev, fmt.Errorf("kind %q: %w", e.Kind, replay.ErrUnknownKind)
	}
	for _, text := range e.Issued {
		c, err := parseIssued(text)
		if err != nil {
			return ev, err
		}
		ev.Issued = append(ev.Issued, c)
	}
	var err error
	ev.Payload, err = e.Payload.payload()
	return ev, err
}

// MarshalText implements encoding.TextMarshaler.
func (l linkForm) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%016x", uint64(l)), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (l *linkForm) UnmarshalText(text []byte) error {
	v, err := strconv.ParseUint(string(text), 16, 64)
	if err != nil {
		return fmt.Errorf("link %q: %w", text, journal.ErrInvalid)
	}
	*l = linkForm(v)
	return nil
}

// parseIssued reads a command in the form in which the journal stores it.
func parseIssued(text string) (journal.Issued, error) {
	list, err := journal.DecodeIssued(text)
	if err == nil && len(list) != 1 {
		err = fmt.Errorf("issued command %q: %w", text, journal.ErrInvalid)
	}
	if err != nil {
		return journal.Issued{}, err
	}
	return list[0], nil
}

// payload is the inverse of payloadOf.
func (p *payloadForm) payload() (journal.Payload, error) {
	switch {
	case p == nil:
		return journal.Payload{}, nil
	case len(p.JSON) > 0 && len(p.Base64) > 0:
		return journal.Payload{}, errors.New("payload has json and base64")
	case len(p.JSON) > 0:
		return journal.Payload{Encoding: p.Encoding, Data: compact(p.JSON)}, nil
	case len(p.Base64) > 0:
		return journal.Payload{Encoding: p.Encoding, Data: p.Base64}, nil
	}
	return journal.Payload{Encoding: p.Encoding}, nil
}
