# The ways in: build, demo, test, alone, schema, proof, torture, interface, count, bench, install, uninstall. SwiftPM
# builds.

PREFIX ?= /usr/local
DESTDIR ?=
SWIFT ?= swift
PYTHON ?= python3

# A static runtime starts several times faster than a shared one and needs no Swift where it runs. lld, because other
# linkers warn of a dlopen in Swift's runtime that is only there for its debugging.
STATIC_FLAGS ?= -Xswiftc -static-executable -Xswiftc -use-ld=lld

# Types are made by code, not by parsing their mangled names and searching all conformances: half of the instructions
# of a small run. Copying and destroying a value is code too, and needs no type made for it: an eighth.
START_FLAGS ?= -Xswiftc -Xfrontend -Xswiftc -disable-concrete-type-metadata-mangled-name-accessors \
    -Xswiftc -Xfrontend -Xswiftc -disable-type-layout

# Two accesses to one property at a time are a fault of the program, and the tests, which are built without this, stop at
# one. To look for it at each access costs a tenth of a step.
STEP_FLAGS ?= -Xswiftc -enforce-exclusivity=unchecked

# Small blocks of memory are SmallBlocks.c's: a tenth of a check.
BLOCK_FLAGS ?= $(foreach name,malloc free calloc realloc posix_memalign malloc_usable_size,-Xlinker --wrap=$(name))

# What a short run executes stands side by side, so that a start has fewer page faults and takes a fifth less: each
# function in a section of its own, for the linker to move. The first build runs the program to see the order, and links
# it again; `make clean` has the next build look anew. Functions without a name, 24 KB in all, come first.
ORDER := $(CURDIR)/.build/start.order
LAYOUT := $(CURDIR)/.build/start.layout
ORDER_FLAGS ?= -Xswiftc -Xfrontend -Xswiftc -function-sections -Xlinker -T$(LAYOUT) \
    -Xlinker --symbol-ordering-file=$(ORDER) -Xlinker --no-warn-symbol-ordering

BINARY := .build/release/flowrun
COMPILE = $(SWIFT) build -c release --product flowrun $(STATIC_FLAGS) $(START_FLAGS) $(STEP_FLAGS) $(BLOCK_FLAGS) $(ORDER_FLAGS)
COMPLETIONS := .build/completions
SHARE := $(DESTDIR)$(PREFIX)/share
DOC := $(SHARE)/doc/flowrun

.PHONY: build demo test alone schema proof torture interface count bench install uninstall clean

build:
	@.ci/setup
	@mkdir -p $(dir $(ORDER)) && touch $(ORDER)
	@echo 'SECTIONS { .text : { *(.text..L*) *(.text .text.*) } } INSERT AFTER .rodata;' > $(LAYOUT)
	$(COMPILE)
	@if [ -n "$(ORDER_FLAGS)" ] && [ ! -s $(ORDER) ]; then \
	    if $(PYTHON) Tests/Scripts/start_order.py $(BINARY) > $(ORDER).new; then \
	        mv $(ORDER).new $(ORDER) && rm $(BINARY) && $(COMPILE); \
	    else echo "build: a start takes a fifth longer, since its order could not be seen"; fi; fi
	@# The linker leaves the program in the page cache in small pieces, and a start takes a third longer until it is
	@# read from the disk again, as it is where it was installed.
	@-sync -d $(BINARY) && dd if=$(BINARY) iflag=nocache count=0 status=none && cat $(BINARY) > /dev/null

demo: build
	$(BINARY) examples/c-project/workflow.yml

# Tests run optimised code, see the package's manifest.
export FLOWRUN_TESTED := 1

# These keep both cores busy and make threads late that hold a lock. In a process of their own they hold up no others.
EXPLORING := ^AsyncOperationsTests\.(Interleaving|Split|Stress)Tests/

test:
	@.ci/setup test
	$(SWIFT) format lint --strict --recursive --parallel --configuration .swift-format Sources Packages Tests Package.swift
	$(SWIFT) build --build-tests --explicit-target-dependency-import-check error
	$(PYTHON) Tests/Scripts/check_imports.py
	$(PYTHON) Tests/Scripts/check_folders.py
	$(PYTHON) Tests/Scripts/check_words.py
	$(SWIFT) test $(if $(FILTER),--filter '$(FILTER)',--skip '$(EXPLORING)')
	$(if $(FILTER),,$(SWIFT) test --filter '$(EXPLORING)')

# Each test in a process of its own, since the order in which they share one changes.
alone:
	@.ci/setup test
	$(PYTHON) Tests/Scripts/each_alone.py

# Writes the schemas from the declarations of the events and from the table of keys.
schema:
	FLOWRUN_WRITE_SCHEMA=1 $(SWIFT) test --filter 'the schema is made of'

# No run stalls, and none of ten thousand workflows runs longer than its bound: a hundred thousand random workflows, the
# small ones in every order of events, and a million in one. `check` finds nothing in a thousand sound files of up to a
# hundred thousand steps, offers no bad edit in ten thousand files with mistakes, and costs in proportion to the file.
# The library loses nothing: programs of its API under PROOF_INTERLEAVINGS orders of their threads, and PROOF_ROUNDS times
# on real ones; PROOF_SPLITS of them come to the same in every split and order of their calls. PROOF_INPUTS workflows,
# expressions and journals each, as libFuzzer changes them, trap nothing. These are the numbers of one run, which takes
# more than an hour: runs that each begin with another FLOWRUN_PROOF_SEED add up.
PROOF_INTERLEAVINGS ?= 250000
PROOF_ROUNDS ?= 100000
PROOF_SPLITS ?= 20000
PROOF_INPUTS ?= 500000
PROOF = $(SWIFT) test -c release -Xswiftc -enable-testing -Xswiftc -DFLOWRUN_EXPLORE --scratch-path .build/proof --filter

# One after the other: the rounds on real threads shake every lock, and what runs beside them takes many times longer.
proof:
	@.ci/setup proof
	FLOWRUN_PROOF_BOUNDS=10000 FLOWRUN_PROOF_WORKFLOWS=100000 FLOWRUN_PROOF_SCENARIOS=1000000 \
	    FLOWRUN_PROOF_SOUND_FILES=1000 FLOWRUN_PROOF_SOUND_STEPS=100000 FLOWRUN_PROOF_MUTATED_FILES=10000 \
	    $(PROOF) 'ExplorerTests|RandomSchedulesTests|LongestRunTests|SoundFileTests|EditTests'
	FLOWRUN_PROOF_INTERLEAVINGS=$(PROOF_INTERLEAVINGS) FLOWRUN_PROOF_SPLITS=$(PROOF_SPLITS) $(PROOF) 'InterleavingTests|SplitTests'
	FLOWRUN_PROOF_ROUNDS=$(PROOF_ROUNDS) $(PROOF) StressTests
	$(PYTHON) Tests/Scripts/check_sizes.py .build/proof/release/flowrun
	$(PYTHON) Tests/Scripts/fuzz.py .build/proof/release/flowrun $(PROOF_INPUTS)

# Nothing survives and nothing is lost: trees of processes, readers, faults and kills, each suite with a table. And real
# runs keep to the times that `plan` gives.
torture: build
	@.ci/setup test
	$(PYTHON) Tests/Scripts/torture_processes.py $(BINARY)
	$(PYTHON) Tests/Scripts/torture_output.py $(BINARY)
	$(PYTHON) Tests/Scripts/torture_resume.py $(BINARY) 5000
	$(PYTHON) Tests/Scripts/torture_resume_rules.py $(BINARY) 10000
	$(PYTHON) Tests/Scripts/torture_many_runs.py $(BINARY) 100
	$(PYTHON) Tests/Scripts/bound_runs.py $(BINARY)
	$(PYTHON) Tests/Scripts/torture_soak.py $(BINARY)
	$(PYTHON) Tests/Scripts/torture_disk.py $(BINARY)

# What a program that imports the library can see.
interface:
	$(SWIFT) build --target AsyncOperations
	$(PYTHON) Tests/Scripts/public_interface.py .build/debug/Modules

# Instructions and system calls, which do not depend on the machine's load, against a table. UPDATE=1 writes the table.
count: build
	@.ci/setup proof
	$(PYTHON) Tests/Benchmarks/count.py $(if $(UPDATE),--update)

bench: build
	$(PYTHON) Tests/Benchmarks/bench.py

# Builds only what is not there yet, so that `make build && sudo make install` needs no Swift for root.
$(BINARY):
	$(MAKE) build

PROGRAM := $(DESTDIR)$(PREFIX)/bin/flowrun
PAGES := $(SHARE)/man/man1/flowrun.1 $(SHARE)/man/man5/flowrun-workflow.5
BASH_COMPLETION := $(SHARE)/bash-completion/completions/flowrun
ZSH_COMPLETION := $(SHARE)/zsh/site-functions/_flowrun
FISH_COMPLETION := $(SHARE)/fish/vendor_completions.d/flowrun.fish
GUIDES := $(addprefix Sources/FlowrunCommands/Flowrun.docc/,ComingFrom.md Recipes.md)

# Without symbols (-s): they are two thirds of the file, and only a debugger reads them, which has the one in .build.
install: $(BINARY)
	install -Dsm755 $(BINARY) $(PROGRAM)
	for page in $(PAGES); do install -Dm644 man/$${page##*/} $$page || exit 1; done
	mkdir -p $(COMPLETIONS)
	for shell in bash zsh fish; do \
	    $(BINARY) completion $$shell > $(COMPLETIONS)/$$shell || exit 1; \
	done
	install -Dm644 $(COMPLETIONS)/bash $(BASH_COMPLETION)
	install -Dm644 $(COMPLETIONS)/zsh $(ZSH_COMPLETION)
	install -Dm644 $(COMPLETIONS)/fish $(FISH_COMPLETION)
	install -Dm644 -t $(DOC) README.md CHANGELOG.md LICENSE $(GUIDES)
	find schema -name '*.json' -exec install -Dm644 {} $(DOC)/{} \;
	find examples \( -path '*/build' -o -name .build -o -name .flowrun \) -prune -o -type f -exec install -Dm644 {} $(DOC)/{} \;

# Everything that `install` with the same PREFIX and DESTDIR has put there; the folders that others use as well stay.
uninstall:
	rm -f $(PROGRAM) $(PAGES) $(BASH_COMPLETION) $(ZSH_COMPLETION) $(FISH_COMPLETION)
	rm -rf $(DOC)

clean:
	$(SWIFT) package clean
	rm -rf $(ORDER) $(COMPLETIONS) .build/package examples/c-project/build
