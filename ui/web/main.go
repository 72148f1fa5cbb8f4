// The program web makes the dashboard's assets: it writes the types of the HTTP API from
// docs/openapi.json, and bundles src and lib into ui/assets. It needs neither Node nor a network.
// Run it with `go generate ./ui`; its test says when what is committed is not what it would write.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/evanw/esbuild/pkg/api"
)

func main() {
	if err := run("."); err != nil {
		fmt.Fprintln(os.Stderr, "web:", err)
		os.Exit(1)
	}
}

// apiFile is what the pages know of the HTTP API.
const apiFile = "src/api.ts"

// run makes everything of the sources in folder. Types come first: the bundle is made from them.
func run(folder string) error {
	types, err := readTypes(folder)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, apiFile), types, 0o644); err != nil {
		return err
	}
	files, err := bundle(folder)
	if err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, assets, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// assets is where package ui embeds its files from.
const assets = "../assets"

// bundle returns the assets by their names.
func bundle(folder string) (map[string][]byte, error) {
	root, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	result := api.Build(api.BuildOptions{
		AbsWorkingDir:     root,
		EntryPoints:       []string{"src/app.tsx", "src/theme.ts", "src/app.css", "src/icon.svg"},
		Outdir:            filepath.Join(root, assets),
		Bundle:            true,
		MinifyWhitespace:  true,
		MinifyIdentifiers: true,
		MinifySyntax:      true,
		Format:            api.FormatESModule,
		Target:            api.ES2022,
		Charset:           api.CharsetUTF8,
		LegalComments:     api.LegalCommentsEndOfFile,
		JSX:               api.JSXAutomatic,
		JSXImportSource:   "preact",
		Loader:            map[string]api.Loader{".svg": api.LoaderCopy},
		Tsconfig:          "tsconfig.json",
	})
	var broken []error
	for _, m := range result.Errors {
		where := ""
		if m.Location != nil {
			where = fmt.Sprintf("%s:%d: ", m.Location.File, m.Location.Line)
		}
		broken = append(broken, errors.New(where+m.Text))
	}
	if err := errors.Join(broken...); err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, f := range result.OutputFiles {
		files[filepath.Base(f.Path)] = f.Contents
	}
	sum, err := sources(folder)
	if err != nil {
		return nil, err
	}
	files["sources.sha256"] = []byte(sum + "\n")
	return files, nil
}
