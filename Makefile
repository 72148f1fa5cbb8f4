# `make` alone prints this list.

GO       := $(shell command -v go || echo /usr/local/go/bin/go)
export GO

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.9.0
TIMEOUT     ?= 20m
# vet has a target of its own, so tests do not run a part of it once more. Processes of tests are short: to collect their garbage as
# often as that of a server takes a tenth of their time, and a third of the simulator's.
TEST        := GOGC=400 $(GO) test -count=1 -vet=off
FUZZTIME    ?= 20s
SEEDS       ?= 10000
FROM        ?= 1
N           ?= 200
WORKERS     ?= 1
SYSTEMS     ?= windows darwin

# The module with the products that Reprise is compared with.
PEERS := bench/peers

# The tutorial's program, a module of its own as a user's is.
TUTORIAL := examples/tutorial

# What makes the dashboard's assets, a module of its own because of its bundler.
WEB := ui/web

# The packages that keep live runs in memory; make race runs their tests in both modes.
ENGINE := ./actor/... ./runtime ./runtime/acceptance ./runtime/bulk ./runtime/gather ./runtime/internal/... ./runtime/runtimetest ./runtime/schedule ./runtime/sim

# What a newer server could change: the guarantees, every statement and its plan, migrations, views. The
# guarantees once, not once more amid others or through faults: that is about our own code, on any server.
NEWER := '^Test(Store$$|Statements|Plans|ClaimIsFlat|LoadIsFlat|Migrate|Views|Readable|SchemaOption|Upgrade)'

# The packages whose tests need neither a server nor a second process.
QUICK := ./internal/... ./journal ./journal/driver ./replay/... ./actor/... ./migrations ./runtime/internal/... ./runtime/runtimetest ./examples/approval ./examples/readmetest

# The packages in which goroutines share memory, and nothing that takes long to compile with the race detector, as SQLite does: in a
# change's check their tests run with it and with a passivation after every turn at once, and not without, to save two runs of all of
# them; make race runs every test in both modes.
RACE := ./internal/batch ./internal/goroutine ./internal/list ./internal/pool ./internal/watchdog ./journal/driver \
	./replay/internal/... ./actor/... ./runtime/internal/...

# What make test leaves to make race, which runs every test, to keep within its time: the contract once more behind a pooler in transaction
# mode, and at the ends of batches; deaths behind each statement; the scenarios of bench and of failover in a tiny form; the main job through
# kills, which make chaos does at length.
LONG := '^TestStoreBehindAPooler$$$$|^TestStore$$$$/^Amid$$$$/^(First|Last)$$$$|^TestCrashPointsOf|^TestScenarios$$$$|^TestOrderSurvives'

.PHONY: help quick test check fmt tidy vet lint cross vuln once passivated tutorial assets types engines million peers race newer \
	fuzz inject sim mutate bench bench-compare microbench order chaos api graph measure clean prepare prepare-race prepare-newer prepare-engines prepare-peers

# Nothing but the shell: on a machine with Go and make alone, this works.
help: ## print this list
	@while IFS= read -r line; do case "$$line" in [a-z]*:*"## "*) \
		printf '  make %-13s %s\n' "$${line%%:*}" "$${line#*## }" ;; esac; done <Makefile

quick: ## under a minute, while you work: build, vet, and the tests that need no server: scripts, golden histories, units
	$(GO) build ./...
	$(GO) vet ./...
	$(GO) test -timeout $(TIMEOUT) $(QUICK)

test: once passivated tutorial assets inject ## what every change is held to: every test once, the engine's with a passivation after every turn and the race detector, those of the tutorial and the assets, and a minute of filters

check: fmt tidy vet lint cross test peers race newer ## all that a change must pass, the race detector on everything, and the comparison

fmt: ## show what gofmt would change
	@diff=$$($(dir $(GO))gofmt -d .) && if [ -n "$$diff" ]; then echo "$$diff"; exit 1; fi

tidy: ## show what go mod tidy would change
	$(GO) mod tidy -diff
	cd $(PEERS) && $(GO) mod tidy -diff
	cd $(TUTORIAL) && $(GO) mod tidy -diff
	cd $(WEB) && $(GO) mod tidy -diff

vet: ## go vet
	$(GO) vet ./...
	cd $(TUTORIAL) && $(GO) vet ./...
	cd $(WEB) && $(GO) vet ./...

lint: ## staticcheck, at a fixed version, and go vet of what only make engines compiles
	$(GO) vet -tags engines ./ui
	$(GO) run $(STATICCHECK) ./...
	cd $(TUTORIAL) && $(GO) run $(STATICCHECK) ./...
	cd $(WEB) && $(GO) run $(STATICCHECK) ./...

# Not part of a change's check, as few changes touch a file of one system. Nobody executes what is built, so the
# compiler need not optimize: that is a third of its time.
cross: ## build everything for each of SYSTEMS, which is Windows and macOS
	set -e; for os in $(SYSTEMS); do echo "GOOS=$$os $(GO) build ./..."; GOOS=$$os $(GO) build -gcflags='all=-N -l -dwarf=false' ./...; done

# Not part of check: what it finds depends on the day, not on the change, and it needs the database of
# vulnerabilities of the Go project or, as VULNDB=file:///…, a copy of it.
vuln: ## known vulnerabilities in what we call; before every release
	$(GO) run $(GOVULNCHECK) $(if $(VULNDB),-db $(VULNDB)) ./...

once: prepare ## every test once that passivated does not run
	$(TEST) -timeout $(TIMEOUT) -skip $(LONG) $$($(GO) list ./... | grep -vxF "$$($(GO) list $(RACE))")

passivated: prepare-race ## the engine's tests with a passivation after every turn, so that whatever a run forgets is found, and with the race detector
	REPRISE_TEST_PASSIVATE=always $(TEST) -race -timeout $(TIMEOUT) $(RACE)

tutorial: prepare ## the program of docs/tutorial.md: its flows, and kill -9 of its process on SQLite and Postgres
	cd $(TUTORIAL) && $(TEST) -timeout $(TIMEOUT) ./...

assets: ## whether the dashboard's assets are what its sources make; go generate ./ui makes them
	cd $(WEB) && $(TEST) -timeout $(TIMEOUT) ./...

inject: prepare ## a minute of made-up filters, none of which may become text of a statement
	$(GO) test -vet=off -timeout $(TIMEOUT) -run '^$$' -fuzz '^FuzzWhere$$' -fuzztime 60s -parallel 1 ./journal/postgres

# Before a release: Chromium finds nearly all, and two more browsers take a minute.
engines: prepare-engines ## the dashboard's pages in Debian's Firefox and WebKit as well
	$(TEST) -timeout $(TIMEOUT) -tags engines -run TestEngines ./ui

million: prepare ## the page of runs and each documented filter, asked by a browser of a million runs on SQLite: half an hour, a line each
	$(TEST) -timeout 3h -v -run TestManyRuns ./ui -runs 1000000 -asks 20

# TypeScript's compiler looks for what the bundler does not: it is fetched, so it is no part of check.
types: ## what TypeScript's compiler says of the dashboard's pages
	cd $(WEB) && npx --yes --package typescript@7.0.2 tsc -p .

# The products bring as much code as everything else here, and few changes touch what the comparison uses.
peers: prepare-peers ## the comparison with other products: vet, staticcheck, and a tiny form of it; Restate's server is fetched if need be
	cd $(PEERS) && $(GO) vet ./...
	cd $(PEERS) && $(GO) run $(STATICCHECK) ./...
	cd $(PEERS) && $(TEST) -timeout $(TIMEOUT) ./...

race: prepare-race ## every test with the race detector, the engine's in both modes; SQLite in Go is ten times slower with it
	$(TEST) -race -timeout 30m ./...
	REPRISE_TEST_PASSIVATE=always $(TEST) -race -timeout $(TIMEOUT) $(ENGINE)

newer: prepare-newer ## the conformance tests of journal/postgres, and upgrades, on a newer PostgreSQL, which is fetched if need be
	bin=$$(.ci/newer-postgres) && REPRISE_PG_BIN=$$bin $(TEST) -timeout $(TIMEOUT) ./journal/postgres/pgserver && \
	REPRISE_PG_BIN=$$bin $(TEST) -timeout $(TIMEOUT) -run $(NEWER) -skip 'TestStore/(Amid|Faults)' ./journal/postgres ./runtime/acceptance/upgrade

fuzz: prepare ## every fuzz test for FUZZTIME (20s)
	@set -e; grep -roE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' . | while IFS=: read -r file decl; do \
		$(GO) test -run '^$$' -fuzz "^$${decl#func }\$$" -fuzztime $(FUZZTIME) "$$(dirname "$$file")"; \
	done

sim: prepare ## SEEDS (10000) simulated clusters with faults, from seed FROM (1): some minutes
	$(TEST) -timeout 30m ./runtime/sim -run TestSeeds -v -seeds $(SEEDS) -from $(FROM)

mutate: prepare ## N (200) random changes of the code, one at a time: which of them no test notices; hours, SEED=… goes on with a sample
	$(GO) run ./internal/mutate -n $(N) -workers $(WORKERS) $(if $(SEED),-seed $(SEED)) $(if $(OUT),-out $(OUT)) $(PACKAGES)

bench: prepare ## every load scenario on a private Postgres, less than half an hour; lines and a table go to bench/results
	@set -e; out=bench/results/$$(date -u +%F)-$${LABEL:-$$(date -u +%H%M%S)}; \
	$(GO) run ./bench -out $$out.jsonl all; \
	echo; $(GO) run ./bench -summary $$out.jsonl >$$out.md; cat $$out.md

microbench: prepare ## every micro-benchmark
	$(GO) test -run '^$$' -bench . -benchmem ./...

bench-compare: prepare-peers ## Reprise beside Restate, DBOS, go-workflows and River, then on SQLite: twenty minutes, Markdown tables
	cd $(PEERS) && $(GO) build -o ../../bin/peers . && ../../bin/peers && ../../bin/peers -store sqlite

order: prepare ## the main job: 500 order sagas and an audit
	$(GO) run ./runtime/acceptance/order

chaos: prepare ## the main job while its processes and Postgres are killed, or slow, silent, refused and held, then fail-overs, restores and networks that fail: half an hour
	$(GO) run ./runtime/acceptance/order -nodes 3 -kill 30
	$(GO) run ./runtime/acceptance/order -pgkill
	$(GO) run ./runtime/acceptance/order -nodes 3 -trouble slow,silent,refused,held -times 8
	$(GO) run ./runtime/acceptance/failover

api: ## write api/*.txt anew: the exported names of each public package
	@$(GO) run ./internal/house api

graph: ## who imports whom and, inside the engine's packages, which file calls which; PACKAGES=… prints the files of others
	@$(GO) run ./internal/house graph $(PACKAGES)

measure: ## sizes of functions, files and types, comments, exported names, tests: for each package and the library
	@$(GO) run ./internal/house measure

clean: ## remove what builds and tests leave in this folder
	rm -rf bin
	find . -name '*.test' -o -name '*.out' -o -name '*.prof' | xargs -r rm -f

prepare:
	@.ci/prepare

prepare-race:
	@.ci/prepare race

prepare-engines:
	@.ci/prepare engines

prepare-newer:
	@.ci/prepare newer

prepare-peers:
	@.ci/prepare peers
