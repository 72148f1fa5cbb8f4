package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"

	"github.com/reprise-run/reprise/runtime/schedule"
)

// readSet reads a set of schedules from a file of YAML, or of JSON, which is YAML too. A field that
// no schedule has is refused: it would be a rule that nobody obeys.
func readSet(c *call, name string) (schedule.Set, error) {
	arg := name
	if name != "-" {
		arg = "@" + name
	}
	text, from, err := c.readInput(arg)
	if err != nil {
		return schedule.Set{}, err
	}
	set, err := parseSet(text)
	if err != nil {
		return set, failed(ExitUsage, "docs/schedules.md has the fields", "the schedules%s cannot be read, nothing was done: %v", from, err)
	}
	return set, nil
}

func parseSet(text []byte) (set schedule.Set, err error) {
	var tree any
	d := yaml.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(&tree); err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("there is nothing in it")
		}
		return set, err
	}
	if err := d.Decode(new(any)); !errors.Is(err, io.EOF) {
		return set, errors.New("it has more than one document: a set is one")
	}
	data, err := json.Marshal(tree)
	if err != nil {
		return set, fmt.Errorf("a key is no text: %w", err)
	}
	j := json.NewDecoder(bytes.NewReader(data))
	j.DisallowUnknownFields()
	if err := j.Decode(&set); err != nil {
		return set, err
	}
	if set.Schedules == nil {
		return set, errors.New("it has no list of schedules: an empty one, [], removes all")
	}
	return set, nil
}
