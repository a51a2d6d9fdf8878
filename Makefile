# Qiyou. Two commands are enough: `make play` and `make test`. `make help` lists the rest.
CARGO ?= cargo
# What `make check` looks at beside the default features.
LINTED ?= qiyou/online,qiyou/guest,tests/online
.DEFAULT_GOAL := help
# No program of tests runs without a time limit: scripts/within is what cargo starts it with.
TRIPLE = $(shell rustc -vV | sed -n 's/^host: //p' | tr a-z- A-Z_)
WITHIN = CARGO_TARGET_$(TRIPLE)_RUNNER='$(CURDIR)/scripts/within'

.PHONY: help play build test test-online fuzz check supply portable deb tarball repository test-deb test-carriers test-devices test-guest ble-lab ble-strangers ble-soak screens pictures bench bench-levels tune play-through night

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 16

play: ## install what is missing, build, and run the app (in a virtual screen where there is none)
	@scripts/need build play
	$(CARGO) build --release --locked -p qiyou --features online,guest
	@scripts/play

build: ## the app, qiyoud, qiyouctl and qiyou-engine in target/release
	@scripts/need build
	$(CARGO) build --release --locked -p qiyou -p host -p qiyouctl -p engine --features qiyou/online,qiyou/guest,host/online,host/guest

test: ## the tests of every crate; what needs root, servers, radios or hours has targets of its own
	@scripts/need build test
	$(WITHIN) $(CARGO) test --workspace --locked

test-online: ## the parts of online play that need no server; with servers: make test-carriers
	@scripts/need build test
	$(WITHIN) $(CARGO) test -p link -p host --features link/online,host/online --lib --locked

check: ## formatting, clippy, docs (online play too) and the manual's form, with warnings as errors; whether THIRD-PARTY.md is true
	@scripts/need build check
	scripts/check-manual --self-test
	scripts/check-manual
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --features '$(LINTED)' --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --exclude screens --no-deps --locked
	packaging/libraries --check

supply: ## what comes in from others, by deny.toml: licences, sources, libraries that are there twice, known holes
	@scripts/need build supply
	scripts/supply

portable: ## what other systems could use compiles for them: below the host for Windows and macOS, rules and matches for WebAssembly
	@scripts/need build
	scripts/portable

play-through: ## a player that never tires: every page, button, lesson, puzzle and game of the app by what is on the screen; see docs/play-through.md
	@scripts/need build test
	QIYOU_TEST_LIMIT=$${QIYOU_TEST_LIMIT:-5400} $(WITHIN) $(CARGO) test -p qiyou --locked --test play_through -- --include-ignored --nocapture

night: ## what takes too long for each change: make night, or make night PARTS="long fuzz …"; see docs/nightly.md
	@scripts/need build test lab carriers
	scripts/night $(PARTS)

deb: build ## Debian packages qiyou and qiyoud in target/deb, looked at by lintian
	@scripts/need deb
	scripts/deb

tarball: build ## a folder with ./install --user, for systems whose own folders cannot be written; in target/deb
	@scripts/need deb
	scripts/tarball

repository: deb ## a signed apt repository of the packages in target/repository: make repository KEY=you@example.org
	@KEY='$(KEY)' scripts/repository

test-deb: build ## the packages in bare roots of Debian 12 and 13: installed, played with, upgraded, purged; needs root
	@scripts/need deb test-deb
	scripts/test-deb

fuzz: ## every fuzz target at the same time, each for 30 s; after `make test`
	scripts/fuzz

test-carriers: ## whole matches between network namespaces and through real XMPP servers; needs root
	@scripts/need build carriers
	scripts/test-carriers

test-devices: ## gamepads and a motor that Debian's kernel and udev show, in a virtual machine
	@scripts/need build lab
	tests/devices/run

test-guest: ## the guest's page in real Chromium, Firefox and WebKit, with a real qiyoud; see tests/guest/README.md
	@scripts/need build guest
	tests/guest/run

ble-lab: ## two virtual handhelds with real BlueZ play whole matches over an emulated radio, and meet strangers (needs PyPI)
	@scripts/need build lab
	tests/ble-lab/run

ble-strangers: ## of the lab only this: another Bluetooth stack meets the hosts, plays with one, breaks their rules and sits between two
	@scripts/need build lab
	tests/ble-lab/run --only strangers

ble-soak: ## the lab with many cuts, kills and restarts
	@scripts/need build lab
	tests/ble-lab/run --soak

screens: ## every page in every size, language and theme as pictures in target/screens
	@scripts/need build
	scripts/screens

pictures: ## README's and the manual's pictures, drawn anew from the app as docs/manual/pictures.txt lists them
	@scripts/need build pictures
	scripts/pictures

bench: ## codec, AI, rules beside libm4ri and Fairy-Stockfish, the app beside other board games, in one run
	@scripts/need build play screen bench
	scripts/bench

# The games whose levels are measured, and how many matches of each two.
LEVELS ?= gomoku xiangqi liuzhou go
GAMES ?= 40

bench-levels: ## levels of LEVELS="gomoku …" against those below, GAMES=40 each; gomoku's 10 against 5 and 5 against 1
	@scripts/need build
	$(CARGO) build --release --locked -p engine --bin qiyou-engine
	@for game in $(LEVELS); do for level in 2 3 4 5 6 7 8 9; do \
		target/release/qiyou-engine levels --game $$game --a $$level --b $$((level - 1)) --games $(GAMES) --nodes 100000000 || exit; \
	done; done
	target/release/qiyou-engine levels --a 10 --b 5 --games 40 --ms 500 --at-least 80
	target/release/qiyou-engine levels --a 5 --b 1 --games 40 --ms 500 --at-least 90

# The game and the numbers that `make tune` is about; none: those that matter most to most games.
GAME ?= gomoku
NUMBERS ?= reverse-futility razor reduction-base reduction-flatness history-reduction
tune: ## looks by self-play for better numbers of a search: make tune GAME=xiangqi NUMBERS="razor null-step"; what it finds, `qiyou-engine tune test` confirms
	@scripts/need build
	$(CARGO) build --release --locked -p engine --bin qiyou-engine
	target/release/qiyou-engine tune climb --game $(GAME) --threads $$(nproc) $(NUMBERS)
