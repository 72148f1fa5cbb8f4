package journaltest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// Views are saved, replaced and deleted by their names, and the audit has what has changed, once,
// whoever asks at once.
func views(k *kit) {
	name := func(s string) string { return "view " + s + " “ü/'\"&?# 🙂" }
	do := func(kind driver.AdminKind, n, address, actor string) error {
		_, err := k.j.Admin(k.ctx, driver.AdminAction{Kind: kind, Actor: actor, Reason: "for " + actor, View: &journal.View{Name: n, Address: address}})
		return err
	}
	has := func(want ...string) {
		k.t.Helper()
		list, err := k.j.Views(k.ctx)
		k.ok(err)
		var got []string
		for _, v := range list {
			if strings.HasPrefix(v.Name, "view ") {
				if v.Time.IsZero() {
					k.t.Errorf("view %q has no time", v.Name)
				}
				got = append(got, fmt.Sprint(v.Name, " leads to ", v.Address, " by ", v.Actor))
			}
		}
		k.same("the views", got, want)
	}
	long := "runs?where=" + strings.Repeat("x", journal.ViewAddressBytesMax-len("runs?where="))
	k.together(8, func(int) error { return do(driver.AdminSaveView, name("b"), "runs?where=status+%3D+failed&a", "eva") })
	k.ok(do(driver.AdminSaveView, name("a"), long, "ada"))
	has(name("a")+" leads to "+long+" by ada", name("b")+" leads to runs?where=status+%3D+failed&a by eva")
	k.ok(do(driver.AdminSaveView, name("b"), "failures", "ada"))
	k.ok(do(driver.AdminDeleteView, name("a"), "", "eva"))
	has(name("b") + " leads to failures by ada")
	if err := do(driver.AdminDeleteView, name("a"), "", "eva"); !errors.Is(err, journal.ErrNoView) {
		k.t.Errorf("a view that is gone is deleted: %v", err)
	}
	begin := func(s string) string { return s[:min(len(s), 60)] }
	said := func(verb string) (list []string) {
		entries, err := k.j.Audit(k.ctx, journal.AuditFilter{Verb: verb})
		k.ok(err)
		for _, e := range entries {
			if strings.HasPrefix(e.Detail, "view ") {
				list = append(list, fmt.Sprint(e.Actor, " ", begin(e.Detail), " ", e.Reason, e.Run.IsZero(), e.Workflow))
			}
		}
		slices.Reverse(list)
		return list
	}
	k.same("what was saved", said("save-view"), []string{
		"eva " + begin(name("b")+": runs?where=status+%3D+failed&a") + " for evatrue",
		"ada " + begin(name("a")+": "+long) + " for adatrue",
		"ada " + name("b") + ": failures for adatrue",
	})
	k.same("what was deleted", said("delete-view"), []string{"eva " + name("a") + " for evatrue"})
	k.ok(do(driver.AdminDeleteView, name("b"), "", "eva"))
	has()
	viewLimits(k)
}

// What is no view is refused, and so is one too many; nothing is stored or in the audit then.
func viewLimits(k *kit) {
	save := func(name, address string) driver.AdminAction {
		return driver.AdminAction{Kind: driver.AdminSaveView, Actor: "limiter", View: &journal.View{Name: name, Address: address}}
	}
	before, err := k.j.Views(k.ctx)
	k.ok(err)
	node, run := save("x", "runs"), save("x", "runs")
	node.Node, run.Run = 1, journal.NewRunID()
	for _, a := range []driver.AdminAction{
		{Kind: driver.AdminSaveView}, {Kind: driver.AdminDeleteView}, node, run, {Kind: driver.AdminPause, View: &journal.View{Name: "x"}},
		save("", "runs"), save(" ", "runs"), save(strings.Repeat("n", journal.ViewNameBytesMax+1), "runs"), save("x\x00", "runs"), save("x\xff", "runs"),
		save("x", ""), save("x", "/runs"), save("x", "//evil.example/"), save("x", "https://evil.example/"), save("x", "javascript:alert(1)"), save("x", "javascript:/alert(1)"),
		save("x", `\\evil.example`), save("x", "../../x"), save("x", "a/..?b"), save("x", "runs\n"), save("x", "%zz"),
		save("x", strings.Repeat("a", journal.ViewAddressBytesMax+1)),
	} {
		if _, err := k.j.Admin(k.ctx, a); !errors.Is(err, journal.ErrInvalid) {
			k.t.Errorf("%s of %+v: %v", a.Kind, a.View, err)
		}
	}
	left := journal.ViewsMax - len(before)
	k.together(left+3, func(i int) error {
		_, err := k.j.Admin(k.ctx, save(fmt.Sprint("one of many ", i), "runs"))
		if limit, ok := errors.AsType[*journal.LimitError](err); ok && limit.Max == journal.ViewsMax {
			return nil
		}
		return err
	})
	after, err := k.j.Views(k.ctx)
	k.ok(err)
	k.same("how many there are", len(after), journal.ViewsMax)
	again := save(after[len(after)-1].Name, "failures")
	_, err = k.j.Admin(k.ctx, again) // another address for one that is there
	k.ok(err)
	for _, v := range after {
		if strings.HasPrefix(v.Name, "one of many ") {
			_, err := k.j.Admin(k.ctx, driver.AdminAction{Kind: driver.AdminDeleteView, View: &journal.View{Name: v.Name}})
			k.ok(err)
		}
	}
}
