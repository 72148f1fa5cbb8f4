package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/types"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// measured is what is counted of one package.
type measured struct {
	folder    string
	functions []int // lines of each
	files     []int // lines of each
	comments  int   // lines that hold nothing but a comment
	code      int   // lines that hold anything else and are not blank
	exported  int   // names of package level, and methods of exported types
	types     []typeSize
}

// typeSize is how much state a type has and how many functions reach it.
type typeSize struct {
	folder, name    string
	fields, methods int
}

// measure counts one package of the module.
func (m *module) measure(u *unit) (measured, error) {
	c := measured{folder: u.path}
	for _, syntax := range u.syntax {
		file := m.files.File(syntax.FileStart)
		c.files = append(c.files, file.LineCount())
		text, err := os.ReadFile(file.Name())
		if err != nil {
			return measured{}, err
		}
		comments, code := commentLines(string(text))
		c.comments, c.code = c.comments+comments, c.code+code
		for _, decl := range syntax.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok {
				c.functions = append(c.functions, lineSpan(m.files, f))
			}
		}
	}
	for _, name := range u.types.Scope().Names() {
		o := u.types.Scope().Lookup(name)
		if o.Exported() {
			c.exported++
		}
		named, ok := o.Type().(*types.Named)
		if _, isType := o.(*types.TypeName); !isType || !ok {
			continue
		}
		size := typeSize{folder: u.path, name: name, methods: named.NumMethods()}
		if s, ok := named.Underlying().(*types.Struct); ok {
			size.fields = s.NumFields()
		}
		for method := range named.Methods() {
			if o.Exported() && method.Exported() {
				c.exported++
			}
		}
		c.types = append(c.types, size)
	}
	return c, nil
}

// besideLibrary tells whether a package is a kit, an example or a program.
func besideLibrary(folder string) bool {
	switch top(folder) {
	case "bench", "examples", "cmd":
		return true
	}
	return inHelper(folder) || folder == "internal/house" || folder == "runtime/sim" || folder == "journal/postgres/pgserver"
}

// printMeasures prints a line for each package, one for the library, its biggest types, and how
// many lines of tests stand beside a line of it.
func printMeasures(w io.Writer, m *module) error {
	const row = "%-32s %5d %5d %5d %6d %6.1f %% %8d %9d   %s\n"
	fmt.Fprintf(w, "%-32s %5s %5s %5s %6s %8s %8s %9s   %s\n", "package", "func", "p95", "max", "file", "comment", "exported", "lines", "biggest type (fields/methods)")
	total := measured{folder: "the library"}
	for _, u := range m.units {
		c, err := m.measure(u)
		if err != nil {
			return err
		}
		c.print(w, row)
		if !besideLibrary(u.path) {
			total.add(c)
		}
	}
	total.print(w, row)
	fmt.Fprintf(w, "\nbiggest types of the library:\n")
	slices.SortStableFunc(total.types, func(a, b typeSize) int {
		return cmp.Compare(b.fields+b.methods, a.fields+a.methods)
	})
	for _, t := range total.types[:min(10, len(total.types))] {
		fmt.Fprintf(w, "  %s.%s %d fields, %d methods\n", t.folder, t.name, t.fields, t.methods)
	}
	tests, kits, err := testLines(os.DirFS(m.root))
	if err != nil {
		return err
	}
	engine := sum(total.files)
	fmt.Fprintf(w, "\ntests %d + kits %d lines to %d of the library: %.2f : 1\n", tests, kits, engine, float64(tests+kits)/float64(engine))
	return nil
}

func (c *measured) add(o measured) {
	c.functions, c.files, c.types = append(c.functions, o.functions...), append(c.files, o.files...), append(c.types, o.types...)
	c.comments, c.code, c.exported = c.comments+o.comments, c.code+o.code, c.exported+o.exported
}

func (c *measured) print(w io.Writer, row string) {
	biggest := typeSize{}
	for _, t := range c.types {
		if t.fields+t.methods > biggest.fields+biggest.methods {
			biggest = t
		}
	}
	functions := slices.Sorted(slices.Values(c.functions))
	share := 100 * float64(c.comments) / float64(max(1, c.comments+c.code))
	shape := ""
	if biggest.name != "" {
		shape = fmt.Sprintf("%s %d/%d", biggest.name, biggest.fields, biggest.methods)
	}
	fmt.Fprintf(w, row, c.folder, percentile(functions, 50), percentile(functions, 95), percentile(functions, 100),
		slices.Max(append([]int{0}, c.files...)), share, c.exported, sum(c.files), shape)
}

// percentile returns the value that p of a hundred sorted values do not exceed.
func percentile(sorted []int, p int) int {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, len(sorted)*p/100)]
}

func sum(values []int) int {
	total := 0
	for _, v := range values {
		total += v
	}
	return total
}

// testLines counts the lines of _test.go files and of packages for tests, less other modules.
func testLines(tree fs.FS) (tests, kits int, err error) {
	err = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			var broken []string
			return enterFolder(tree, name, &broken)
		}
		text, err := fs.ReadFile(tree, name)
		lines := strings.Count(string(text), "\n")
		switch {
		case path.Ext(name) != ".go":
		case strings.HasSuffix(name, "_test.go"):
			tests += lines
		case top(name) != "examples" && top(name) != "bench" && besideLibrary(path.Dir(name)):
			kits += lines
		}
		return err
	})
	return tests, kits, err
}
