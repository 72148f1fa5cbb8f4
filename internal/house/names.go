package main

import (
	"go/ast"
	"go/token"
	"io/fs"
	"path"
	"strings"
)

// names is what the Go files of a tree declare, tests and other modules in it included.
type names struct {
	any      map[string]bool            // every name of package level, method and field
	packages map[string]map[string]bool // names of package level by the name of their package
	members  map[string]map[string]bool // methods and fields by the name of their type
	text     strings.Builder            // all of the source, for words that are no names
}

// declaredNames reads the Go files of a tree.
func declaredNames(tree fs.FS) (*names, error) {
	n := &names{any: map[string]bool{}, packages: map[string]map[string]bool{}, members: map[string]map[string]bool{}}
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if base := path.Base(name); name != "." && (base[0] == '.' || base == "testdata" || name == "bin") {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		syntax, err := parseFile(tree, token.NewFileSet(), name)
		if err != nil {
			return err
		}
		text, err := fs.ReadFile(tree, name)
		n.text.Write(text)
		n.addFile(syntax)
		return err
	})
	return n, err
}

func (n *names) addFile(syntax *ast.File) {
	in := strings.TrimSuffix(syntax.Name.Name, "_test")
	for _, decl := range syntax.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Recv == nil {
				n.add(n.packages, in, decl.Name.Name)
			} else {
				n.add(n.members, receiverType(decl.Recv.List[0].Type), decl.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				n.addSpec(in, spec)
			}
		}
	}
}

func (n *names) addSpec(in string, spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.ValueSpec:
		for _, id := range spec.Names {
			n.add(n.packages, in, id.Name)
		}
	case *ast.TypeSpec:
		n.add(n.packages, in, spec.Name.Name)
		var fields *ast.FieldList
		switch t := spec.Type.(type) {
		case *ast.StructType:
			fields = t.Fields
		case *ast.InterfaceType:
			fields = t.Methods
		default:
			return
		}
		for _, f := range fields.List {
			if len(f.Names) == 0 { // embedded: what it brings is not looked for
				n.add(n.members, spec.Name.Name, embedding)
			}
			for _, id := range f.Names {
				n.add(n.members, spec.Name.Name, id.Name)
			}
		}
	}
}

// embedding is the member of types that have members which are declared elsewhere.
const embedding = "…"

func (n *names) add(in map[string]map[string]bool, group, name string) {
	if in[group] == nil {
		in[group] = map[string]bool{}
	}
	in[group][name], n.any[name] = true, true
}

// knows tells whether what a document calls by a name exists: Name, pkg.Name, Type.Member or
// pkg.Type.Member. It trusts a dotted name that begins with neither a package nor a type of ours.
func (n *names) knows(dotted string) bool {
	parts := strings.Split(dotted, ".")
	if len(parts) == 1 {
		return n.any[dotted]
	}
	if group := n.packages[parts[0]]; group != nil {
		if parts = parts[1:]; !group[parts[0]] {
			return false
		}
	}
	if members := n.members[parts[0]]; members != nil && len(parts) > 1 {
		return members[parts[1]] || members[embedding]
	}
	return true
}
