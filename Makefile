# Qiyou. Two commands are enough: `make play` and `make test`. `make help` lists the rest.
CARGO ?= cargo
# Features that `make check` builds besides the default ones.
LINTED ?= qiyou/online,qiyou/guest,tests/online,fuzz/libfuzzer,fuzz/online
# Features that packages have.
PACKED = qiyou/online,qiyou/guest
# Features of what `make test` builds: none, because online play takes minutes to compile; CI sets PACKED and fuzz/online.
TESTED ?=
WITH_TESTED = $(if $(TESTED),--features '$(TESTED)')
# What packages are made of: `make deb PROFILE=dev` packs programs that are not optimised, those that tests have built
# whose TESTED has at least PACKED, as CI's has.
PROFILE ?= release
ifeq ($(PROFILE),dev)
BUILD = test --workspace --no-run --locked --features '$(PACKED) $(TESTED)'
else
BUILD = build --profile $(PROFILE) --locked -p qiyou -p host -p qiyouctl -p engine --features $(PACKED),host/online,host/guest
endif
BUILT = $(if $(filter dev,$(PROFILE)),debug,$(PROFILE))
# Packages for others are the same wherever they are built; tests pack what `make build` has built.
SAME = $(if $(filter dev,$(PROFILE)),,scripts/without-paths)
.DEFAULT_GOAL := help
# Every test program runs with a time limit: cargo starts it through scripts/within.
TRIPLE = $(shell rustc -vV | sed -n 's/^host: //p' | tr a-z- A-Z_)
WITHIN = CARGO_TARGET_$(TRIPLE)_RUNNER='$(CURDIR)/scripts/within'

.PHONY: help play build test test-online fuzz check supply portable deb tarball repository test-deb test-wayland test-phosh test-arm64 deb-arm64 test-deb-arm64 test-carriers test-engines test-devices kiosk test-kiosk test-guest test-hotspot ble-lab ble-cells ble-lab-repeat ble-strangers ble-soak screens pictures bench bench-levels tune play-through night

help: ## print this list
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 16

play: ## install missing packages, build, and run the app (in a virtual screen if there is no screen)
	@scripts/need build play
	$(CARGO) build --release --locked -p qiyou --features online,guest
	@scripts/play

build: ## build the app, qiyoud, qiyouctl and qiyou-engine in target/release
	@scripts/need build
	$(CARGO) $(BUILD)

test: ## run the tests of every crate; tests that need root, servers, radios or hours have targets of their own
	@scripts/need build test
	$(WITHIN) $(CARGO) test --workspace --locked $(WITH_TESTED)

test-online: ## test the parts of online play that need no server; with servers: make test-carriers
	@scripts/need build test
	$(WITHIN) $(CARGO) test -p link -p host --features link/online,host/online --lib --locked

check: ## check formatting, clippy, docs (with online play), the manual's form, Flatpak's manifest, and that THIRD-PARTY.md is up to date; warnings are errors
	@scripts/need build check
	scripts/ratchet --self-test
	scripts/check-manual --self-test
	scripts/check-manual
	scripts/check-flatpak --self-test
	scripts/check-flatpak
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --features '$(LINTED)' --locked -- -D warnings
	$(if $(TESTED),,$(CARGO) clippy --workspace --locked -- -D warnings)
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --exclude screens --no-deps --features '$(LINTED)' --locked
	packaging/libraries --check

supply: ## check dependencies by deny.toml: licences, sources, duplicates, known vulnerabilities
	@scripts/need build supply
	scripts/supply

portable: ## check that the crates below the host compile for Windows and macOS, rules and matches for WebAssembly
	@scripts/need build
	scripts/portable

play-through: ## a player that never tires: every page, button, lesson, puzzle and game of the app by what is on the screen; see docs/play-through.md
	@scripts/need build test
	QIYOU_TEST_LIMIT=$${QIYOU_TEST_LIMIT:-5400} $(WITHIN) $(CARGO) test -p qiyou --locked --test play_through -- --include-ignored --nocapture

night: ## run what takes too long for each change: make night, or make night PARTS="long fuzz …"; PARTS=seeds: random tests until one fails; see docs/nightly.md
	@scripts/need build test lab carriers
	scripts/night $(PARTS)

deb: ## build the Debian packages qiyou and qiyoud in target/deb, checked by lintian; the same bytes wherever it is done
	@scripts/need build deb
	$(SAME) $(CARGO) $(BUILD)
	QIYOU_BUILT=$(BUILT) $(SAME) scripts/deb

tarball: ## build a tarball with ./install --user, for read-only systems; in target/deb
	@scripts/need build deb
	$(SAME) $(CARGO) $(BUILD)
	QIYOU_BUILT=$(BUILT) $(SAME) scripts/tarball

repository: deb ## build a signed apt repository of the packages in target/repository: make repository KEY=you@example.org
	@KEY='$(KEY)' scripts/repository

test-deb: build ## test the packages in bare roots of Debian 12 and 13: install, play, upgrade, purge; needs root
	@scripts/need deb test-deb
	QIYOU_BUILT=$(BUILT) scripts/test-deb

test-wayland: build ## touch, turn and type into the app under sway, a Wayland compositor without a screen
	@scripts/need wayland
	QIYOU_BUILT=$(BUILT) scripts/test-wayland

test-phosh: build ## touch, turn and type into the app under Phosh, the desktop of Debian's phones, without a screen
	@scripts/need phosh
	QIYOU_BUILT=$(BUILT) scripts/test-phosh

test-arm64: ## test what is below the host as programs for arm64, run by qemu; node counts and networks equal on arm64 and x86-64
	@scripts/need build arm64
	scripts/test-arm64

deb-arm64: ## build the Debian packages for arm64 (PinePhone, Librem 5, Raspberry Pi) on any Debian, in target/deb
	@scripts/need build arm64 deb
	scripts/arm64 cargo build --profile $(PROFILE) --locked -p qiyou -p host -p qiyouctl -p engine --features qiyou/online,qiyou/guest,host/online,host/guest
	QIYOU_ARCH=arm64 QIYOU_BUILT=$(BUILT) scripts/deb

test-deb-arm64: deb-arm64 ## install the packages in an emulated Debian 12 for arm64 and play a game by taps; needs root
	@scripts/need deb test-deb arm64
	QIYOU_BUILT=$(BUILT) scripts/test-deb-arm64

fuzz: ## let libFuzzer search each fuzz target for 30 s; after `make test`
	@scripts/need build test fuzz
	TESTED='$(TESTED)' scripts/fuzz

test-carriers: ## test whole matches between network namespaces and through real XMPP servers; needs root
	@scripts/need build carriers
	scripts/test-carriers

test-engines: ## test Debian's GNU Go and Fairy-Stockfish as opponents, and what they see inside bubblewrap
	@scripts/need build test engines
	$(WITHIN) $(CARGO) test -p engines -p tests --test processes --test engines --locked -- --ignored

test-devices: ## test gamepads and a vibration motor with Debian's kernel and udev in a virtual machine
	@scripts/need build lab
	tests/devices/run

kiosk: ## build the app for a screen without a desktop, and print how it is started at boot
	@scripts/need build kiosk
	$(CARGO) build --release --locked -p qiyou --features online,guest,kiosk
	@echo "sudo install -m 755 $${CARGO_TARGET_DIR:-target}/release/qiyou /usr/local/bin/qiyou-kiosk"
	@echo "sudo install -m 644 packaging/systemd/qiyou-kiosk@.service /etc/systemd/system/"
	@echo "sudo systemctl daemon-reload && sudo systemctl enable --now qiyou-kiosk@$$(id -un)"

test-kiosk: ## test the app without a desktop, on a virtual machine's screen and touchscreen
	@scripts/need build kiosk lab test-kiosk
	tests/kiosk/run

test-guest: ## test guests: their page in real Chromium, Firefox and WebKit with a real qiyoud, hostile clients, the Wi-Fi for guests; SHORT=1: the page in Chromium, a part; see tests/guest/README.md
	@scripts/need build $(if $(SHORT),chromium,guest lab)
	tests/guest/run $(if $(SHORT),--short)
	$(if $(SHORT),,$(WITHIN) $(CARGO) test -p tests --locked --test guests)
	$(if $(SHORT),,tests/hotspot/run)

test-hotspot: ## test the Wi-Fi for guests with Debian's NetworkManager and emulated radios in a virtual machine
	@scripts/need build lab
	tests/hotspot/run

ble-lab: ## test whole matches between two virtual handhelds with real BlueZ over an emulated radio, and strangers (needs PyPI); CELL=debian-13: another cell; CHECK=1: red when a ratio misses its bar by more than its noise
	@scripts/need build lab
	tests/ble-lab/run --cell $(or $(CELL),debian-12) $(if $(CHECK),--check)

ble-cells: ## run the lab's short form in each cell of its matrix (BlueZ 5.66 and 5.82, controllers, privacy, MTU, five devices), or in CELL=today
	@scripts/need build lab
	tests/ble-lab/run --cell $(or $(CELL),all) --short

# Number of runs in a row.
N ?= 20

ble-lab-repeat: ## run the lab N=20 times in a row and count how often it was green; CELL=name: another cell, ARGUMENTS="--only storm": a part
	@scripts/need build lab
	tests/ble-lab/run --repeat $(N) --cell $(or $(CELL),debian-12) $(ARGUMENTS)

ble-strangers: ## run only the lab's strangers: another Bluetooth stack connects to hosts, plays, violates the protocol, and relays between two
	@scripts/need build lab
	tests/ble-lab/run --only strangers

ble-soak: ## run the whole lab with many cuts, kills and restarts, in the cell debian-12; CELL=debian-13: in another
	@scripts/need build lab
	tests/ble-lab/run --cell $(or $(CELL),debian-12) --soak

screens: ## draw every page in every size, language and theme into target/screens
	@scripts/need build
	scripts/screens

pictures: ## redraw the pictures of README and manual that docs/manual/pictures.txt lists
	@scripts/need build pictures
	scripts/pictures

bench: ## measure codec, AI, rules against libm4ri and Fairy-Stockfish, the app against other board games; CHECK=1 (make keeps --check for itself): red beyond a bar by more than its noise; PARTS="codec …"
	@scripts/need build play screen bench
	scripts/bench $(if $(CHECK),--check) $(PARTS)

# GAMES of each pair of levels: 40 say +-110 Elo, 350 +-40. BOARDS, PROXIES, STEP, PARTS: see scripts/bench-levels.
GAMES ?= 40

bench-levels: ## levels of BOARDS="gomoku go:9 …": matches of GAMES=40 between neighbours, beginners' proxies, variety, and how soon a level adapts; CHECK=1: an error if a bar is missed
	@scripts/need build
	GAMES='$(GAMES)' scripts/bench-levels $(if $(CHECK),--check)

# Game and parameters for `make tune`; none: the most important ones of most games.
GAME ?= gomoku
PARAMETERS ?= reverse-futility razor reduction-base reduction-flatness history-reduction
tune: ## tune search parameters by self-play: make tune GAME=xiangqi PARAMETERS="razor null-step"; confirm a result with `qiyou-engine tune test`
	@scripts/need build
	$(CARGO) build --release --locked -p engine --bin qiyou-engine
	target/release/qiyou-engine tune spsa --game $(GAME) --threads $$(nproc) $(PARAMETERS)
