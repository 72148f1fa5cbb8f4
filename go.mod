module github.com/reprise-run/reprise

go 1.26.0

require (
	github.com/asynkron/protoactor-go v0.0.0-20240822202345-3c0e61ca19c9 // mailboxes and lifecycle of run actors; package actor only
	github.com/cenkalti/backoff/v4 v4.3.0 // waits between tries while the store is unavailable
	github.com/cespare/xxhash/v2 v2.3.0 // links of histories: a hash that is fast on few bytes
	github.com/chromedp/cdproto v0.160.1 // tests: what a browser can be asked; comes with the next one
	github.com/chromedp/chromedp v0.23.1 // tests: drives the browser that shows the dashboard; package ui/uitest only
	github.com/google/go-cmp v0.7.0 // tests: readable differences
	github.com/google/uuid v1.6.0 // UUIDv7 of runs, UUIDs of workflows
	github.com/jackc/pgx/v5 v5.13.0 // Postgres: pipelines, binary arrays, LISTEN
	github.com/mattn/go-isatty v0.0.24 // cmd: whether there is somebody to ask
	github.com/petermattis/goid v0.0.0-20261109124353-7cfa343ad0ab // which goroutine calls: workflow code has its own
	github.com/spf13/cobra v1.10.2 // cmd: verbs, flags, completion, pages; package cmd only, so no user of the library builds it
	github.com/spf13/pflag v1.0.9 // tests: the flags of verbs, as cobra has them
	go.opentelemetry.io/otel v1.47.0 // traces and metrics, off unless given a provider
	go.opentelemetry.io/otel/metric v1.47.0 // as above
	go.opentelemetry.io/otel/sdk v1.47.0 // tests: spans and metrics in memory
	go.opentelemetry.io/otel/sdk/metric v1.47.0 // as above
	go.opentelemetry.io/otel/trace v1.47.0 // as above
	go.uber.org/goleak v1.3.0 // tests: no goroutine outlives its owner
	go.yaml.in/yaml/v3 v3.0.6 // cmd: files of schedules; cobra brings it anyway
	golang.org/x/sync v0.25.0 // groups of goroutines in examples and tests
	golang.org/x/sys v0.50.0 // Windows: the lock of a file beside an SQLite database; Linux: the round trip of a connection
	golang.org/x/term v0.46.0 // cmd: the keys and the size of a terminal
	modernc.org/sqlite v1.62.0 // SQLite without cgo
)

require (
	github.com/Workiva/go-datastructures v1.1.3 // indirect
	github.com/beorn7/perks v1.0.1 // indirect
	github.com/cpuguy83/go-md2man/v2 v2.0.6 // indirect
	github.com/dustin/go-humanize v1.1.0 // indirect
	github.com/emirpasic/gods v1.18.1 // indirect
	github.com/go-json-experiment/json v0.0.0-20260213210345-44df1a37e875 // indirect
	github.com/go-logr/logr v1.4.4 // indirect
	github.com/go-logr/stdr v1.2.2 // indirect
	github.com/golang/protobuf v1.5.3 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jackc/puddle/v2 v2.2.3 // indirect
	github.com/lithammer/shortuuid/v4 v4.0.0 // indirect
	github.com/lmittmann/tint v1.0.3 // indirect
	github.com/matttproud/golang_protobuf_extensions v1.0.4 // indirect
	github.com/ncruces/go-strftime v1.1.0 // indirect
	github.com/orcaman/concurrent-map v1.0.0 // indirect
	github.com/prometheus/client_golang v1.17.0 // indirect
	github.com/prometheus/client_model v0.5.0 // indirect
	github.com/prometheus/common v0.44.0 // indirect
	github.com/prometheus/procfs v0.23.0 // indirect
	github.com/remyoudompheng/bigfft v0.0.0-20230129092748-24d4a6f8daec // indirect
	github.com/russross/blackfriday/v2 v2.1.0 // indirect
	github.com/twmb/murmur3 v1.1.8 // indirect
	go.opentelemetry.io/auto/sdk v1.2.1 // indirect
	go.opentelemetry.io/otel/exporters/prometheus v0.44.0 // indirect
	go.opentelemetry.io/otel/log v1.47.0 // indirect
	golang.org/x/text v0.44.0 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
	modernc.org/libc v1.80.1 // indirect
	modernc.org/mathutil v1.7.1 // indirect
	modernc.org/memory v1.12.1 // indirect
)
