import Testing

/// Makefiles.
struct MakefileTests {
    @Test func `the default goal is the first target, or the one that is named`() throws {
        try expect(
            ".PHONY: a b\na: b\n\tone\nb:\n\ttwo\n", "Makefile", "default: [a]", "  a:\n    needs: [b]\n    run: one\n")
        try expect("a:\n\tone\nb:\n\ttwo\n.DEFAULT_GOAL := b\n", "Makefile", "default: [b]")
    }

    @Test func `a variable that may be given is a parameter, one that is set is in the environment`() throws {
        try expect(
            "GCC ?= gcc\nOPT = -O2\nOPT += -g\nall:\n\t$(GCC) ${OPT} $X a.c\n", "Makefile",
            "params:\n  GCC: { type: string, default: gcc, env: GCC }\n", "env:\n  OPT: -O2 -g\n",
            "run: $GCC $OPT $X a.c\n")
        // make defines this one, so that `?=` leaves it.
        try expect("CC ?= gcc\nall:\n\t$(CC) a.c\n", "Makefile", "CC: { type: string, default: cc, env: CC }\n")
    }

    @Test func `a value that a shell has to read stands where it is read`() throws {
        try expect(
            "V := $(shell git describe)\nF = -DX=\"a b\" -DV=$(V)\nall:\n\tcc $(F)\n", "Makefile",
            "vars:\n  V: { run: git describe || true }\n", "run: cc -DX=\"a b\" -DV=$V\n")
        try expect("V = $(shell git describe)\nall:\n\tcc -DV=$(V)\n", "Makefile", "run: cc -DV=$(git describe)\n")
    }

    @Test func `a variable of the environment is left to it`() throws {
        try expect("all:\n\t$(CC) $(CFLAGS) $(DESTDIR)/x\n", "Makefile", "run: ${CC:-cc} $CFLAGS $DESTDIR/x\n")
    }

    @Test func `patterns become steps of the files that are needed`() throws {
        try expect(
            "OBJS = a.o b.o\nx: $(OBJS)\n\tcc -o $@ $^\n%.o: %.c x.h\n\tcc -c $< -o $@ # $*\n", "Makefile",
            "  x:\n    needs: [a-o, b-o]\n    run: cc -o x a.o b.o\n",
            "  # files it reads: a.c x.h\n  a-o:\n    name: a.o\n    run: 'cc -c a.c -o a.o # a'\n", "  b-o:")
    }

    @Test func `functions of texts are evaluated`() throws {
        try expect(
            "S = a.c lib/b.c\nall:\n\techo $(S:.c=.o) $(patsubst %.c,o/%.o,$(S)) $(notdir $(S)) $(dir $(S)) $(addprefix -I,x y)\n",
            "Makefile", "run: echo a.o lib/b.o o/a.o o/lib/b.o a.c b.c ./ lib/ -Ix -Iy\n")
        try expect(
            "T = linux/amd64 mac/arm64\nall: $(T)\n$(T):\n\techo $(word 2,$(subst /, ,$@)) $(word 9,$(T))$(wordlist 2,3,a b c d)\n",
            "Makefile", "  linux-amd64:\n    name: linux/amd64\n    run: echo amd64 b c\n")
    }

    @Test func `a list of files that is made once is one of vars`() throws {
        try expect(
            "D = src\nS := $(wildcard $(D)/*.c x/*.c) z.c\nL = $(wildcard *.h)\nall:\n\tcc $(S) $(L)\n", "Makefile",
            "vars:\n  S: ${{ join(glob('src/*.c', 'x/*.c'), ' ') }} z.c\n", "run: cc $S *.h\n")
    }

    @Test func `if chooses by what is given`() throws {
        try expect(
            "DEBUG ?=\nMODE ?= dev\nK = 1\nF = -Wall $(if $(DEBUG),-g,-O2)\n"
                + "all:\n\tcc $(F) $(if $(V),-v) $(if $(filter dev,$(MODE)),-d,-r) $(if $(K),-k)\n",
            "Makefile", "DEBUG: { type: string, default: '', env: DEBUG }",
            "F: -Wall ${{ if(params.DEBUG != '', '-g', '-O2') }}\n",
            "run: cc $F ${V:+-v} $(if [ \"$MODE\" = dev ]; then echo -d; else echo -r; fi) -k\n")
        // No end is found to these.
        try expect("A = $(if $(A),x,$(B))\nB ?= $(if $(A),$(B),y)\nall:\n\techo $(A) $(B)\n", "Makefile", "  all:")
        try expect("A := $(A) $(wildcard x)\nall:\n\techo $(A)\n", "Makefile", "  all:")
    }

    @Test func `what is exported is in the environment, also where programs listen to it`() throws {
        try expect(
            "export PYTHONPATH := src\nexport V := $(shell date)\nexport W X\nall:\n\tpython3 x.py\n", "Makefile",
            "vars:\n  V: { run: date || true }\n", "env:\n  PYTHONPATH: src\n  V: ${{ vars.V }}\n",
            "# Makefile:3: in the environment of the steps\n")
    }

    @Test func `one shell for all lines gets them without their marks`() throws {
        try expect(".ONESHELL:\na:\n\t@x=1\n\t@echo $$x\n", "Makefile", "      x=1\n      echo $x\n")
    }

    @Test func `what only make can tell is to be filled in, below its lines`() throws {
        try expect(
            "all: a\n\techo all\na: $(foreach x,$(shell y),$(x).o)\n\tcc $^\n", "Makefile",
            "  # Makefile:3: not converted, fill in the step: only make knows what it needs\n"
                + "  #     a: $(foreach x,$(shell y),$(x).o)\n  #     \tcc $^\n  a:\n", "exit 1\n")
    }

    @Test func `prefixes of recipe lines say what happens after a failure`() throws {
        try expect(
            "a:\n\t@-rm x\n\t-@a; b\n\t+@make -C c\n", "Makefile",
            "    run: |\n      rm x || true\n      (a; b) || true\n      make -C c\n")
    }

    @Test func `an include that was not read leaves what may read it unfinished`() throws {
        try expect(
            "include a.mk\nifdef X\nY = 1\nendif\na:\n\techo $(Y)\nb:\n\techo $(Z)\nc:\nd:\n\techo d\n", "Makefile",
            "# Makefile:1: not converted: `include a.mk` was not read, and may define what this reads\n#     include a.mk\n",
            "only make knows `Y`", "  b:", "exit 1", "  c:", "exit 1", "  d:\n    run: echo d\n")
    }

    @Test func `targets that only make knows may have the same text more than once`() throws {
        try expect(
            "T = $(sort $(shell ls *.c))\nall: $(T)\n$(T): A := 1\n$(T): A := 2\n$(T):\n\techo $(A)\n", "Makefile",
            "only make knows the names of the targets", "  T:\n", "exit 1")
    }

    @Test func `a condition over what a run is given chooses in the run`() throws {
        try expect(
            "F = -O2\nifdef DEBUG\nF += -g\nendif\na:\n\tcc $(F)\n", "Makefile",
            "env:\n  F: ${{ if((env.DEBUG ?? '') != '', '-O2 -g', '-O2') }}\n", "run: cc $F\n")
        try expect(
            "ifeq ($(OS),Windows_NT)\nE = .exe\nendif\na:\n\tcc -o x$(E)\n", "Makefile", "run: cc -o x$E\n")
        try expect(
            "ifeq ($(shell id -u),0)\na:\n\tx\nendif\n", "Makefile", "only make knows about `ifeq ($(shell id -u),0)`")
    }

    @Test func `a default over another one follows it`() throws {
        try expect(
            "P ?= /usr\nM ?= $(P)/man\na:\n\tcp x $(M)\n", "Makefile", "P: { type: string, default: /usr, env: P }\n",
            "env:\n  M: ${{ env.M ?? format('{0}/man', params.P) }}\n", "run: cp x $M\n")
    }

    @Test func `the shell of a makefile is that of the steps`() throws {
        try expect("a:\n\tb\n", "Makefile", "defaults: { shell: sh }")
        try expect("SHELL = /bin/bash\na:\n\tb\n", "Makefile", "defaults: { shell: [/bin/bash, -e, -c] }")
        try expect(
            "SHELL := bash\n.SHELLFLAGS := -o pipefail -c\na:\n\tb\n", "Makefile", "shell: [bash, -e, -o, pipefail, -c]"
        )
    }

    @Test func `targets share rules, and a target has several`() throws {
        try expect(
            "a b: c\n\techo $@\nc:\n\tc\nb: d\nd:\n\td\n", "Makefile", "a:\n    needs: [c]\n    run: echo a\n",
            "b:\n    needs: [c, d]\n    run: echo b\n")
        try expect("a:: \n\tone\na::\n\ttwo\n", "Makefile", "run: |\n      one\n      two\n")
        try expect("a:\n\told thing\na:\n\tnew\n", "Makefile", "replaced by what follows", "old thing", "run: new\n")
    }

    @Test func `a description is taken from the comment, above or behind`() throws {
        try expect(
            "# Builds it\na:\n\tb\nc: ## Tests it\n\td\n", "Makefile", "description: Builds it", "description: Tests it"
        )
    }

    @Test func `one shell for all lines is one script`() throws {
        try expect(
            ".ONESHELL:\na:\n\tcd x\n\tpwd\n", "Makefile", "run: |\n      (\n      cd x\n      pwd\n      ) || exit\n")
    }

    @Test func `a command whose failure counts for nothing changes nothing for the next`() throws {
        try expect(
            "a:\n\t-cd build\n\trm -rf *.tmp\nb:\n\t-@exit 3\n\tx\n", "Makefile",
            "(cd build) || true\n      rm -rf *.tmp\n", "(exit 3) || true\n      x\n")
    }

    @Test func `set -e in a recipe keeps its effect`() throws {
        try expect(
            "a:\n\t@set -e; for i in 1 2; do false; echo $$i; done\n\t@echo next\n", "Makefile",
            "(set +e; set -e; for i in 1 2; do false; echo $i; done)\n      echo next\n")
        try expect(
            "a:\n\t-@set -e; false; echo no\n\t@echo next\n", "Makefile",
            "set +e\n      (set -e; false; echo no)\n      set -e\n      echo next\n")
    }

    @Test func `the output of several commands is one line`() throws {
        try expect("A := $(shell echo a; echo b)\na:\n\techo $(A)\n", "Makefile", "| tr ''\\n'' '' ''")
    }

    @Test func `what calls make takes part in the jobs`() throws {
        try expect(
            "a:\n\t$(MAKE) -C src\nb:\n\tx\n", "Makefile", "    jobserver: true\n    run: make -C src\n",
            "  b:\n    run: x\n")
    }

    @Test func `a target that only needs others is a milestone`() throws {
        try expect("all: a b\na:\n\tx\nb:\n\tx\n", "Makefile", "  all:\n    needs: [a, b]\n\n  a:\n")
        try expect(".PHONY: all\nall:\n", "Makefile", "  all:\n    run: ':'\n")
    }

    @Test func `a condition over a command is a test of vars`() throws {
        try expect(
            "ifeq ($(shell git tag),)\nF = -n\nelse\nF = -t\nendif\na:\n\tcc $(F)\n", "Makefile",
            "vars:\n  make_test1: { run: ",
            "env:\n  F: ${{ if(vars.make_test1 != '', '-t', '-n') }}\n", "run: cc $F\n")
    }

    @Test func `a default that decides about rules is fixed`() throws {
        try expect(
            "K ?= a\nifeq ($(K),b)\nx:\n\tone\nelse\nx:\n\ttwo\nendif\n", "Makefile", "(env.K ?? 'a') == 'a'",
            "K is written out in this file", "run: two\n")
    }

    @Test func `a name that a command prints in part is checked where it is used`() throws {
        try expect(
            "B := $(shell go env GOBIN)\nall: $(B)/x\n$(B)/x:\n\tget $@\n", "Makefile", "name: $(B)/x\n",
            "case $B in *[!-a-zA-Z0-9_./+@]*) echo '$(B) cannot be part of the name of a file' >&2; exit 1 ;; esac\n",
            "get $B/x")
    }

    @Test func `variables that double themselves are no trouble`() throws {
        let doubling = (0..<40).map { "V\($0) = $(V\($0 + 1))$(V\($0 + 1))\n" }.joined()
        _ = try converted(doubling + "V40 = x\na:\n\techo $(V0)\nLOOP = $(LOOP)\nb:\n\techo $(LOOP)\n", "Makefile")
    }
}
