package main

import (
	"bytes"
	"fmt"
	"go/constant"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// apiFolder holds one file for each public package: its exported surface.
const apiFolder = "api"

// public tells whether users may import a package: it is no program and not internal.
func (u *unit) public() bool {
	return u.name != "main" && top(u.path) != "examples" && !slices.Contains(strings.Split(u.path, "/"), "internal")
}

// apiFile returns the name of the file that keeps a package's surface.
func (m *module) apiFile(u *unit) string {
	name := strings.ReplaceAll(u.path, "/", "-")
	if u.path == "." {
		name = u.name
	}
	return name + ".txt"
}

// surfaces returns the text of every file of api/ by name, for the packages that export anything.
func (m *module) surfaces() map[string]string {
	files := map[string]string{}
	for _, u := range m.units {
		if lines := m.surface(u); u.public() && len(lines) > 0 {
			files[m.apiFile(u)] = strings.Join(lines, "\n") + "\n"
		}
	}
	return files
}

// surface returns a sorted line for each thing of a package that another one can name.
func (m *module) surface(u *unit) []string {
	var lines []string
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	name := m.qualifier(u)
	for _, o := range exported(u.types.Scope()) {
		switch o := o.(type) {
		case *types.Const:
			value := o.Val().ExactString()
			if o.Val().Kind() == constant.Float {
				value = o.Val().String()
			}
			say("const %s %s = %s", o.Name(), types.TypeString(o.Type(), name), value)
		case *types.Var:
			say("var %s %s", o.Name(), types.TypeString(o.Type(), name))
		case *types.Func:
			say("func %s%s", o.Name(), signature(o.Signature(), name))
		case *types.TypeName:
			lines = append(lines, typeLines(o, name)...)
		}
	}
	slices.Sort(lines)
	return lines
}

// exported returns the exported objects of a package.
func exported(scope *types.Scope) []types.Object {
	var found []types.Object
	for _, name := range scope.Names() {
		if o := scope.Lookup(name); o.Exported() {
			found = append(found, o)
		}
	}
	return found
}

// typeLines returns the lines of one type: what it is, its exported fields, and its methods with
// those it was given by embedding.
func typeLines(o *types.TypeName, name types.Qualifier) []string {
	if o.IsAlias() {
		return []string{fmt.Sprintf("type %s = %s", o.Name(), types.TypeString(types.Unalias(o.Type()), name))}
	}
	named, ok := o.Type().(*types.Named)
	if !ok {
		return []string{fmt.Sprintf("type %s %s", o.Name(), types.TypeString(o.Type().Underlying(), name))}
	}
	head := "type " + o.Name() + typeParams(named.TypeParams(), name) + " "
	var lines []string
	switch t := named.Underlying().(type) {
	case *types.Struct:
		lines = append(lines, head+"struct")
		for field := range t.Fields() {
			switch {
			case !field.Exported():
			case field.Embedded():
				lines = append(lines, fmt.Sprintf("field %s.%s embedded %s", o.Name(), field.Name(), types.TypeString(field.Type(), name)))
			default:
				lines = append(lines, fmt.Sprintf("field %s.%s %s", o.Name(), field.Name(), types.TypeString(field.Type(), name)))
			}
		}
	case *types.Interface:
		lines = append(lines, head+"interface")
		for method := range t.Methods() {
			shown := method.Name() + signature(method.Signature(), name)
			if !method.Exported() {
				shown = "(an unexported method: only this package implements it)"
			}
			lines = append(lines, fmt.Sprintf("method %s.%s", o.Name(), shown))
		}
		return lines
	default:
		lines = append(lines, head+types.TypeString(t, name))
	}
	for selection := range types.NewMethodSet(types.NewPointer(named)).Methods() {
		if f, ok := selection.Obj().(*types.Func); ok && f.Exported() {
			receiver := o.Name()
			if types.NewMethodSet(named).Lookup(f.Pkg(), f.Name()) == nil {
				receiver = "*" + receiver
			}
			lines = append(lines, fmt.Sprintf("method (%s) %s%s", receiver, f.Name(), signature(f.Signature(), name)))
		}
	}
	return lines
}

// signature prints type parameters, parameters and results of a function without the word func.
func signature(s *types.Signature, name types.Qualifier) string {
	var text bytes.Buffer
	types.WriteSignature(&text, s, name)
	return text.String()
}

func typeParams(list *types.TypeParamList, name types.Qualifier) string {
	if list.Len() == 0 {
		return ""
	}
	var params []string
	for p := range list.TypeParams() {
		params = append(params, p.Obj().Name()+" "+types.TypeString(p.Constraint(), name))
	}
	return "[" + strings.Join(params, ", ") + "]"
}

// qualifier shows names of the package itself bare, and others behind the name of their package.
func (m *module) qualifier(u *unit) types.Qualifier {
	return func(p *types.Package) string {
		if p == u.types {
			return ""
		}
		return p.Name()
	}
}

// writeSurfaces writes the folder api anew: files of packages that are gone are removed.
func writeSurfaces(m *module) error {
	folder := filepath.Join(m.root, apiFolder)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	surfaces := m.surfaces()
	old, err := filepath.Glob(filepath.Join(folder, "*.txt"))
	if err != nil {
		return err
	}
	for _, file := range old {
		if _, ok := surfaces[filepath.Base(file)]; !ok {
			if err := os.Remove(file); err != nil {
				return err
			}
		}
	}
	for name, text := range surfaces {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
