package journal

import (
	"fmt"
	"net/url"
	"strings"
	"time"
)

// View is an address of a page that somebody has saved, such as a list of runs with its filter.
type View struct {
	Name    string    // what it is called; names are unique
	Address string    // a path and a query below the pages: runs?where=status+%3D+failed
	Time    time.Time // when it was saved, by the store's clock
	Actor   string    // who has saved it, as the program said
}

// Check refuses a view that cannot be saved. Its address becomes a link for others, so it may lead
// to nothing but a page below theirs.
func (v *View) Check() error {
	if err := CheckText("name of a view", v.Name, ViewNameBytesMax); err != nil {
		return err
	}
	if strings.TrimSpace(v.Name) == "" {
		return fmt.Errorf("the name of a view is empty: %w", ErrInvalid)
	}
	if err := CheckText("address of a view", v.Address, ViewAddressBytesMax); err != nil {
		return err
	}
	u, err := url.Parse(v.Address)
	if err != nil || v.Address == "" || strings.ContainsAny(v.Address, "\\\t\r\n") || u.Scheme != "" || u.Opaque != "" || u.Host != "" || u.User != nil ||
		strings.HasPrefix(v.Address, "/") || strings.Contains("/"+u.Path+"/", "/../") {
		return fmt.Errorf("the address of view %q is %q: it must be a path below the pages, such as runs?where=status+%%3D+failed: %w", v.Name, v.Address, ErrInvalid)
	}
	return nil
}
