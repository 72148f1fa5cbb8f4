package main

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// documents are checked for paths, tests and names that do not exist. CHANGELOG.md speaks of the
// past.
var documents = []string{"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "AGENTS.md", "RELEASING.md", "SECURITY.md", "docs"}

// foreign are names in documents that are protoactor's or the standard runtime's.
var foreign = []string{"Spawn", "PoisonFuture", "Dispatcher", "Stopping", "RequestFuture", "SetReceiveTimeout", "Stash", "runtime.Goexit"}

var (
	linkPattern   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	spanPattern   = regexp.MustCompile("`([^`]+)`")
	wordPattern   = regexp.MustCompile(`[A-Za-z0-9_.*/…-]+`)
	testPattern   = regexp.MustCompile(`^(Test|Fuzz|Benchmark|Example)[A-Z]\w*$`)
	filePattern   = regexp.MustCompile(`^[\w.-]+\.(go|md|sql|sh|mod)$`)
	namePattern   = regexp.MustCompile(`^[A-Za-z]\w*(\.[A-Za-z]\w*)*(\(\))?$`)
	mixedPattern  = regexp.MustCompile(`[a-z][A-Z]|^[A-Z][a-z]|\.[A-Z]`)
	guarantee     = regexp.MustCompile(`^J\d+_(\w+)$`)
	envPattern    = regexp.MustCompile(`^REPRISE_[A-Z_]+$`)
	targetPattern = regexp.MustCompile(`\bmake ([a-z][a-z-]*)`)
)

// links checks documents against a tree.
type links struct {
	tree    fs.FS
	names   *names
	files   map[string]bool // every file and folder, relative to the root
	bases   map[string]bool // the last elements of files
	targets map[string]bool // of the Makefile
}

// checkLinks returns what documents name and the tree does not have, and how much it looked at.
func checkLinks(tree fs.FS) (broken []string, checked int, err error) {
	l := &links{tree: tree, files: map[string]bool{}, bases: map[string]bool{}, targets: map[string]bool{}}
	if l.names, err = declaredNames(tree); err != nil {
		return nil, 0, err
	}
	err = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (name == ".git" || name == "bin") {
			return fs.SkipDir
		}
		l.files[name], l.bases[path.Base(name)] = true, true
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	if makefile, err := fs.ReadFile(tree, "Makefile"); err == nil {
		for _, m := range regexp.MustCompile(`(?m)^([a-z-]+):`).FindAllStringSubmatch(string(makefile), -1) {
			l.targets[m[1]] = true
		}
	}
	for name := range l.files {
		ours := slices.ContainsFunc(documents, func(d string) bool { return under(name, d) })
		if !ours || path.Ext(name) != ".md" {
			continue
		}
		found, n, err := l.check(name)
		if err != nil {
			return nil, 0, err
		}
		broken, checked = append(broken, found...), checked+n
	}
	slices.Sort(broken)
	return broken, checked, nil
}

// check looks at one document, line by line.
func (l *links) check(doc string) (broken []string, checked int, err error) {
	text, err := fs.ReadFile(l.tree, doc)
	if err != nil {
		return nil, 0, err
	}
	number, fenced := 0, false
	for line := range strings.Lines(string(text)) {
		number++
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
			continue
		}
		problems, n := l.checkLine(path.Dir(doc), line, fenced)
		checked += n
		for _, p := range problems {
			broken = append(broken, fmt.Sprintf("%s:%d: dead link: %s", doc, number, p))
		}
	}
	return broken, checked, nil
}

func (l *links) checkLine(folder, line string, fenced bool) (problems []string, checked int) {
	say := func(ok bool, format string, args ...any) {
		checked++
		if !ok {
			problems = append(problems, fmt.Sprintf(format, args...))
		}
	}
	if fenced {
		for _, word := range wordPattern.FindAllString(line, -1) {
			if local, ok := strings.CutPrefix(word, "./"); ok {
				say(l.exists(folder, local), "%s is not in the repository", word)
			}
			if testPattern.MatchString(word) && strings.Contains(line, "go test") {
				say(l.isTest(word), "there is no test %s", word)
			}
		}
	}
	for _, m := range linkPattern.FindAllStringSubmatch(line, -1) {
		target, _, _ := strings.Cut(m[1], "#")
		if target != "" && !strings.Contains(target, ":") {
			say(l.files[path.Join(folder, target)], "%s is not in the repository", target)
		}
	}
	for _, m := range spanPattern.FindAllStringSubmatch(line, -1) {
		if !fenced {
			l.checkSpan(folder, m[1], say)
		}
	}
	for _, m := range targetPattern.FindAllStringSubmatch(line, -1) {
		if fenced || strings.Contains(line, "`make "+m[1]) {
			say(l.targets[m[1]], "the Makefile has no target %s", m[1])
		}
	}
	return problems, checked
}

// checkSpan looks at what stands between two backquotes: a path, a test, a variable or a name.
func (l *links) checkSpan(folder, span string, say func(ok bool, format string, args ...any)) {
	for _, word := range strings.Fields(span) {
		word = strings.Trim(word, ",;:'\"")
		local, dotted := strings.CutPrefix(word, "./")
		switch {
		case dotted, strings.Contains(word, "/") && l.files[top(word)]:
			say(l.exists(folder, local), "%s is not in the repository", word)
		case filePattern.MatchString(word):
			say(l.bases[word], "no file is called %s", word)
		case testPattern.MatchString(word):
			say(l.isTest(word), "there is no test %s", word)
		case envPattern.MatchString(word):
			say(strings.Contains(l.names.text.String(), word) || l.inScripts(word), "nothing reads %s", word)
		case guarantee.MatchString(word): // a subtest, named by a string or by the method that it is
			say(strings.Contains(l.names.text.String(), guarantee.FindStringSubmatch(word)[1]), "no subtest is called %s", word)
		case word == span && namePattern.MatchString(word) && mixedPattern.MatchString(word) && !slices.Contains(foreign, word):
			say(l.names.knows(strings.TrimSuffix(word, "()")), "nothing is called %s", word)
		}
	}
}

// exists tells whether a path, or one that a pattern matches, is in the tree: from the root, or
// from the folder of the document.
func (l *links) exists(folder, name string) bool {
	name = strings.TrimSuffix(strings.TrimSuffix(name, "..."), "/")
	if name == "" || strings.Contains(name, "…") {
		return true
	}
	for _, full := range []string{path.Clean(name), path.Join(folder, name)} {
		if l.files[full] {
			return true
		}
		if strings.Contains(full, "*") {
			if matches, err := fs.Glob(l.tree, full); err == nil && len(matches) > 0 {
				return true
			}
		}
	}
	return false
}

// isTest tells whether a test has this name, or begins with it as -run allows.
func (l *links) isTest(name string) bool {
	for declared := range l.names.any {
		if strings.HasPrefix(declared, name) {
			return true
		}
	}
	return false
}

// inScripts tells whether a script of CI reads an environment variable.
func (l *links) inScripts(name string) bool {
	for file := range l.files {
		if under(file, ".ci") && file != ".ci" {
			if text, err := fs.ReadFile(l.tree, file); err == nil && strings.Contains(string(text), name) {
				return true
			}
		}
	}
	return false
}
