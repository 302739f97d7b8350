import Testing

/// Justfiles.
struct JustfileTests {
    @Test func `the first recipe runs by default`() throws {
        try expect(
            "a: b\n  one\nb:\n  two\n", "justfile", "default: [a]", "  a:\n    needs: [b]\n    run: one\n", "run: two\n"
        )
    }

    @Test func `parameters are the arguments of the script`() throws {
        try expect(
            "a x y='d' *z:\n  echo {{x}} '{{y}}' {{z}}\n", "justfile",
            "      x=\"${1:?x is missing}\"\n      y=\"${2-d}\"\n      shift $(( $# < 2 ? $# : 2 ))\n      z=\"$*\"\n      echo $x \"$y\" $z\n"
        )
        try expect("a +z:\n  echo {{z}}\n", "justfile", ": \"${1?z is missing}\"\n      z=\"$*\"\n      echo $z\n")
        try expect("a $x='1':\n  echo $x\n", "justfile", "export x=\"${1-1}\"\n      echo $x\n")
    }

    @Test func `a recipe that is needed with arguments is a further step`() throws {
        try expect(
            "all: (b 'x y') (b \"z\")\nb v:\n  echo {{v}}\n", "justfile", "needs: [b-x-y, b-z]", "  b:\n",
            "  b-x-y:\n    name: b 'x y'\n    run: |\n      v='x y'\n      echo $v\n", "      v=z\n")
    }

    @Test func `variables are in the environment where a shell need not be asked`() throws {
        try expect(
            "v := 'a' + \"b\" / 'c'\ne := env('HOST', 'x')\nt := `date`\na:\n  echo {{v}} {{e}} '{{t}}'\n", "justfile",
            "vars:\n  t: { run: date }\n", "run: echo $v $e \"$t\"\n")
        try expect(
            "export t := `date`\na:\n  echo {{t}}\n", "justfile",
            "vars:\n  t: { run: date }\n", "env:\n  t: ${{ vars.t }}\n", "run: echo $t\n")
        try expect("t := t + 'x'\na:\n  echo {{t}}\n", "justfile", "what `t` is could not be converted")
        try expect("e := env('HOST', 'x')\na:\n  b\n", "justfile", "env:\n  e: ${{ env.HOST ?? 'x' }}\n")
    }

    @Test func `a script has its own interpreter`() throws {
        try expect(
            "a:\n  #!/usr/bin/env python3\n  print(1)\n", "justfile",
            "shell: [python3, -c]\n    run: |\n      #!/usr/bin/env python3\n      print(1)\n")
        try expect(
            "a x:\n  #!/bin/bash\n  set -u\n  echo {{x}}\n", "justfile",
            "shell: [bash, -c]", "#!/bin/bash\n      [ $# -le 1 ] ||",
            "x=\"${1:?x is missing}\"\n      set -u\n      echo $x\n")
        try expect("a x:\n  #!/usr/bin/env ruby\n  puts '{{x}}'\n", "justfile", "only a shell can read values")
    }

    @Test func `a confirmation is asked for by flowrun, whatever reads the script`() throws {
        try expect(
            "[confirm]\na:\n  #!/usr/bin/env python3\n  print(1)\n", "justfile", "confirm: Run a?\n", "print(1)\n")
    }

    @Test func `an if is if() in the environment and a test in a script`() throws {
        try expect(
            "m := env('MODE', 'dev')\nf := if m == 'release' { '-O3' } else if m != 'dev' { '-O1' } else { 'its' }\n"
                + "a t=(if m == 'dev' { 'x' } else { 'z' }):\n  cc {{f}} {{t}} {{ if t == 'x' { '-v' } else { t } }}\n",
            "justfile",
            "f: ${{ if((env.MODE ?? 'dev') == 'release', '-O3', if((env.MODE ?? 'dev') != 'dev', '-O1', 'its')) }}\n",
            "t=\"${1-$(if [ \"${MODE-dev}\" = dev ]; then printf %s \"x\"; else printf %s \"z\"; fi)}\"\n",
            "value1=$(if [ \"${t}\" = x ]; then printf %s \"-v\"; else printf %s \"${t}\"; fi)\n      cc $f $t $value1\n"
        )
        // A shell would read these where they stand.
        try expect(
            "a t:\n  cc {{ if t == '' { \"'a b'\" } else { t } }}\n", "justfile",
            "a value has quotes or other characters of the shell")
    }

    @Test func `the default of all further arguments is as many words as in the recipe`() throws {
        try expect("a +t='x y':\n  echo {{t}}\n", "justfile", "t=\"${*:-x y}\"\n      echo $t\n")
        try expect("a *t='':\n  echo {{t}}\n", "justfile", "t=\"$*\"\n      echo $t\n")
    }

    @Test func `attributes, aliases and settings`() throws {
        try expect(
            "set dotenv-load\nset shell := ['bash', '-uc']\n[linux]\n[macos]\na:\n  x\nalias b := a\n", "justfile",
            "dotenv: { path: .env, optional: true }", "shell: [bash, -e, -uc]", "platforms: [linux, macos]",
            "  b:\n    needs: [a]\n")
        try expect("[confirm('Sure?')]\na:\n  x\n", "justfile", "confirm: Sure?\n", "run: x\n")
        try expect("[odd]\na:\n  x\n", "justfile", "`[odd]` was not understood", "  a:")
        try expect(
            "[doc('Does it')]\n[working-directory: 'sub']\na:\n  x\n", "justfile", "description: Does it",
            "working-directory: sub")
    }

    @Test func `of one recipe for each platform that of Linux is the step`() throws {
        try expect(
            "all: a\n[linux]\na:\n  x\n[macos]\na:\n  y\n", "justfile", "needs: [a]", "run: x",
            "# justfile:5: for another system\n#     [macos]\n#     a:\n#       y\n")
        try expect("[windows]\na:\n  x\n", "justfile", "it is for another system than flowrun")
    }

    @Test func `what follows a recipe, modules and computed values are not converted`() throws {
        try expect(
            "a: && b\n  x\nb:\n  y\n", "justfile", "add it to `needs` of b", "exit 1")
        try expect(
            "import 'x.just'\na:\n  x\n", "justfile", "#     import 'x.just'",
            "`import 'x.just'` was not read, and may define what this reads", "exit 1")
        try expect(
            "v := if os() == 'x' { 'a' } else { 'b' }\na:\n  echo {{v}}\n", "justfile", "v: b\n", "run: echo $v\n")
        try expect("a:\n  echo {{uppercase('x')}}\n", "justfile", "run: echo X\n")
        try expect("a:\n  echo {{sha256('x')}}\n", "justfile", "a script has nothing like `{{sha256('x')}}`")
        try expect("set odd := 'x'\na:\n  b\n", "justfile", "`set odd := 'x'` was not understood", "exit 1")
        try expect("a:\n  b\noddword c\n", "justfile", "`oddword c` was not understood", "exit 1")
    }

    @Test func `a value that a shell would read differently stands where it is read`() throws {
        try expect(
            "v := '~/x'\na:\n  echo {{v}} \"{{v}}\"\n", "justfile", "v: '~/x'\n", "run: echo ~/x \"$v\"\n")
        try expect(
            "a v='~':\n  echo {{v}}\n", "justfile", "the default of `v` has characters that a shell would read here")
    }

    @Test func `braces that are meant stay`() throws {
        try expect("a:\n  echo '{{{{x}}'\n", "justfile", "run: echo '{{x}}'\n")
    }
}
