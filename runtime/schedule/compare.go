package schedule

import (
	"context"
	"fmt"
	"slices"

	"github.com/reprise-run/reprise/runtime"
)

// Compare tells what [Apply] of a set would change, and changes nothing. It compares with the
// schedules as nodes have made them so far: a change that is stored, and that no node has made yet,
// is not seen. It reads every schedule of the set.
//
// Errors: journal.ErrInvalid as for Apply; those of runtime.Client.List.
func Compare(ctx context.Context, c *runtime.Client, s Set) (Changes, error) {
	var ch Changes
	if err := s.Check(); err != nil {
		return ch, err
	}
	found, err := List(ctx, c, s.setName())
	if err != nil {
		return ch, err
	}
	digests := map[string]string{}
	for i := range found {
		_, name := Split(found[i].ID)
		if digests[name], err = digestIn(ctx, c, &found[i]); err != nil {
			return ch, err
		}
	}
	for i := range s.Schedules {
		put := &s.Schedules[i]
		switch was, exists := digests[put.Name]; {
		case !exists:
			ch.Added = append(ch.Added, put.Name)
		case was != digestOf(put):
			ch.Changed = append(ch.Changed, put.Name)
		default:
			ch.Kept++
		}
		delete(digests, put.Name)
	}
	for name := range digests {
		ch.Removed = append(ch.Removed, name)
	}
	for _, names := range [][]string{ch.Added, ch.Changed, ch.Removed} {
		slices.Sort(names)
	}
	return ch, nil
}

// digestIn is the digest of a schedule as it is. One that no node has begun with is as its run was
// started.
func digestIn(ctx context.Context, c *runtime.Client, f *Found) (string, error) {
	if f.Digest != "" {
		return f.Digest, nil
	}
	s, err := runtime.Input[state](ctx, c, f.Run)
	if err != nil {
		return "", fmt.Errorf("schedule %q: %w", f.ID, err)
	}
	return digestOf(&s.Schedule), nil
}
