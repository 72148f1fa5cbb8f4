package record

import "regexp"

// runNames is how errors name the run that they are about. What wraps an error cannot know whether
// the error names its run, so what shows an error to people does.
var runNames = regexp.MustCompile(`run [0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}: `)

// NamedOnce is the text of an error without the names of runs that the text has before.
func NamedOnce(text string) string {
	seen := map[string]bool{}
	return runNames.ReplaceAllStringFunc(text, func(name string) string {
		if seen[name] {
			return ""
		}
		seen[name] = true
		return name
	})
}
