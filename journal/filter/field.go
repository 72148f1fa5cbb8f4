package filter

import (
	"slices"
	"strings"
)

// Field is a property of a run that a condition is about.
type Field int

// The fields. FieldLabel stands for all labels; a condition has the label's name beside it.
const (
	FieldLabel Field = iota
	FieldID
	FieldWorkflow
	FieldVersion
	FieldQueue
	FieldPriority
	FieldKey
	FieldStatus
	FieldCreated
	FieldStarted
	FieldClosed
	FieldDuration
	FieldDeadline
	FieldGeneration
	FieldParent
	FieldNode
	FieldWaiting
	FieldErrorClass
)

// Type is what the values of a field are, and so what it may be compared with.
type Type int

// The types of fields. A label takes the type of what it is compared with.
const (
	TypeLabel Type = iota
	TypeText
	TypeID
	TypeStatus
	TypeNumber
	TypeTime
	TypeDuration
)

// fields describes each field; the index is the Field.
var fields = [...]struct {
	name string
	of   Type
}{
	FieldLabel:      {"label", TypeLabel},
	FieldID:         {"id", TypeID},
	FieldWorkflow:   {"workflow", TypeText},
	FieldVersion:    {"version", TypeNumber},
	FieldQueue:      {"queue", TypeText},
	FieldPriority:   {"priority", TypeNumber},
	FieldKey:        {"key", TypeText},
	FieldStatus:     {"status", TypeStatus},
	FieldCreated:    {"created", TypeTime},
	FieldStarted:    {"started", TypeTime},
	FieldClosed:     {"closed", TypeTime},
	FieldDuration:   {"duration", TypeDuration},
	FieldDeadline:   {"deadline", TypeTime},
	FieldGeneration: {"generation", TypeNumber},
	FieldParent:     {"parent", TypeID},
	FieldNode:       {"node", TypeNumber},
	FieldWaiting:    {"waiting", TypeText},
	FieldErrorClass: {"error.class", TypeText},
}

// String returns the name by which filters call the field.
func (f Field) String() string { return fields[f].name }

// Type returns what the values of the field are.
func (f Field) Type() Type { return fields[f].of }

// Optional tells whether a run may have no value of the field, so that it is worth asking.
func (f Field) Optional() bool {
	switch f {
	case FieldID, FieldWorkflow, FieldVersion, FieldQueue, FieldPriority, FieldStatus, FieldCreated, FieldStarted, FieldGeneration:
		return false
	}
	return true
}

// OfTask tells whether the field is one of the task of an open run.
func (f Field) OfTask() bool { return f == FieldNode || f == FieldWaiting }

// Fields returns the names of all fields, sorted, without that of labels.
func Fields() []string {
	names := make([]string, 0, len(fields)-1)
	for _, f := range fields[FieldID:] {
		names = append(names, f.name)
	}
	slices.Sort(names)
	return names
}

// optionalFields returns the fields that "is set" is for, for an error.
func optionalFields() string {
	names := slices.DeleteFunc(Fields(), func(name string) bool {
		f, _ := fieldNamed(name)
		return !f.Optional()
	})
	return strings.Join(names, ", ") + " and labels"
}

func fieldNamed(name string) (Field, bool) {
	for f := range fields {
		if f > 0 && fields[f].name == name {
			return Field(f), true
		}
	}
	return 0, false
}

// nearest returns the field that a name was probably meant to be: one that differs in a letter, or
// in two if the name is long. A bare name that is no field is a label, so a name that nearly is one
// must not become a label that no run has.
func nearest(name string) (string, bool) {
	name = strings.ToLower(name)
	best, least := "", 3
	for _, f := range Fields() {
		limit := 1
		if len(f) > 5 {
			limit = 2
		}
		if d := distance(name, f); d <= limit && d < least {
			best, least = f, d
		}
	}
	return best, best != ""
}

// distance counts the letters to insert, delete or replace to make a of b. The loop is quadratic in
// lengths that are short.
func distance(a, b string) int {
	if len(a) > 2*len(b)+2 {
		return len(a)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
