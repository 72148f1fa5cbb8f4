// A module of its own, so that users of the library do not get a compiler of TypeScript as a dependency.
module github.com/reprise-run/reprise/ui/web

go 1.26.0

require github.com/evanw/esbuild v0.28.2

require golang.org/x/sys v0.0.0-20220715151400-c0bba94af5f8 // indirect
