// House keeps the rules of this repository that a compiler does not, and measures what they are
// about. Its tests read the source of the whole module and name the rule that is broken:
//
//   - floors: which package may import which, and which library is at home where (floors.go)
//   - circles: inside a package, no file uses what uses it (circles.go)
//   - sizes: lines of files and functions, fields and methods of types, columns of comments
//   - api: the exported names of each public package, as api/*.txt has them
//   - links: every path and every test that a document names exists
//   - signs: every log line, metric and error of the library is explained in a document and named
//     by a test (signs.go)
//
// As a program it prints what they look at:
//
//	go run ./internal/house graph [package…]    imports of packages, and uses between their files
//	go run ./internal/house measure             sizes, comments, exports and tests of each package
//	go run ./internal/house api                 writes api/*.txt anew
package main
