package journal

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// CheckName refuses names that are empty, too long, not UTF-8 or hold control characters.
func CheckName(what, s string) error {
	if s == "" {
		return &TextError{What: what, Text: s, Why: "is empty; it needs a name, which histories keep"}
	}
	return CheckText(what, s, NameBytesMax)
}

// CheckKey is CheckName for keys; an empty key is allowed and means none.
func CheckKey(what, s string) error {
	if strings.HasPrefix(s, "~") {
		return &TextError{What: what, Text: s, Why: "keys that start with ~ are reserved"}
	}
	return CheckText(what, s, KeyBytesMax)
}

// CheckPriority refuses a priority that no run may have.
func CheckPriority(p int16) error {
	if p < PriorityMin || p > PriorityMax {
		return fmt.Errorf("priority %d: %w: it must be between %d and %d", p, ErrInvalid, PriorityMin, PriorityMax)
	}
	return nil
}

// CheckText refuses a text that is longer than max bytes, not UTF-8 or holds control characters.
// what names the text in the error.
func CheckText(what, s string, max int) error {
	if len(s) > max {
		return &LimitError{What: what + " in bytes", Size: len(s), Max: max}
	}
	if !utf8.ValidString(s) {
		return &TextError{What: what, Text: s, Why: "is not valid UTF-8"}
	}
	if strings.ContainsFunc(s, unicode.IsControl) {
		return &TextError{What: what, Text: s, Why: "holds a control character"}
	}
	return nil
}

// CheckLabels refuses labels that no run may have.
func CheckLabels(labels map[string]string) error {
	if len(labels) > LabelsMax {
		return &LimitError{What: "labels", Size: len(labels), Max: LabelsMax}
	}
	for k, v := range labels {
		if k == "" {
			return &TextError{What: "label", Text: k, Why: "is empty"}
		}
		if err := CheckText("label", k, LabelKeyBytesMax); err != nil {
			return err
		}
		if err := CheckText("label value", v, LabelValueBytesMax); err != nil {
			return err
		}
	}
	return nil
}

func checkHeaders(headers map[string]string) error {
	if len(headers) > HeadersMax {
		return &LimitError{What: "headers", Size: len(headers), Max: HeadersMax}
	}
	size := 0
	for k, v := range headers {
		if k == "" {
			return &TextError{What: "header", Text: k, Why: "is empty"}
		}
		if err := CheckText("header", k, HeadersBytesMax); err != nil {
			return err
		}
		if err := CheckText("value of header "+k, v, HeadersBytesMax); err != nil {
			return err
		}
		size += len(k) + len(v)
	}
	if size > HeadersBytesMax {
		return &LimitError{What: "headers in bytes", Size: size, Max: HeadersBytesMax}
	}
	return nil
}
