import Testing
import Workflow

@testable import Running

/// How bash is asked to watch a script, and what is read of its notes.
struct ScriptWatchingTests {
    @Test(arguments: ["make", "make -j4 TARGET=\"$x\"\n", "  ./ci/lint ${flags} $(nproc)\n", "exit 3"])
    func `a script of one command needs no watching`(script: String) {
        #expect(ScriptOutline.isOneCommand(script))
        #expect(BashStartup(script, for: .bash) == nil)
    }

    @Test(arguments: ["a\nb", "a; b", "a && b", "a | b", "(a)", "{ a; }", "f() { a; }", "`a`", "a &"])
    func `any other one is watched`(script: String) {
        #expect(!ScriptOutline.isOneCommand(script))
        #expect(BashStartup(script, for: .bash) != nil)
    }

    @Test(arguments: [
        "trap 'echo x' ERR\na", "trap x DEBUG\na", "a\ntrap - err", "echo $BASH_ENV\na", "a\necho \"$BASH_COMMAND\"",
        "echo ${PIPESTATUS[0]}\na", "shopt -s extdebug\na", "set -v\na", "a; set -e -uv\nb", "set -o verbose\na",
    ])
    func `a script that looks at what watching needs is left alone`(script: String) {
        #expect(BashStartup(script, for: .bash) == nil)
    }

    @Test(arguments: [
        "trap 'rm -f x' EXIT\na", "echo entrap\necho ERR", "a | b\necho ${PIPESTATUS[0]}", "set -eu\nls -v",
    ])
    func `one that only resembles it is watched`(script: String) {
        #expect(BashStartup(script, for: .bash) != nil)
    }

    @Test func `only bash that reads BASH_ENV is asked`() {
        func isWatched(_ words: [String]) -> Bool { BashStartup("a\nb", for: Shell(arguments: words)) != nil }
        #expect(isWatched(["bash", "-c"]) && isWatched(["/bin/bash", "-euo", "pipefail", "-c"]))
        #expect(isWatched(["bash", "--norc", "-euxc"]))
        #expect(!isWatched(["sh", "-e", "-c"]) && !isWatched(["python3", "-c"]) && !isWatched(["zsh", "-c"]))
        #expect(!isWatched(["bash", "-l", "-c"]) && !isWatched(["bash", "--posix", "-c"]) && !isWatched(["bash"]))
        #expect(!isWatched(["env", "bash", "-c"]) && !isWatched(["bash", "-pc"]))
    }

    @Test(arguments: [
        ("f() {\n a\n}\nf", true), ("function f {\n a\n}", true), ("(\n cd x\n)\na", true), ("x=$(a)\nb", false),
        ("a=(1 2)\nb", false), ("((i++))\nb", false), ("cat <(a)\nb", false),
    ])
    func `functions and subshells are told from substitutions and arrays`(script: String, has: Bool) {
        #expect(ScriptOutline(script).hasFunctionsOrSubshells == has)
    }

    @Test(arguments: [
        ("a\nb\nc\n", 2), ("a\n\nb\n# d\nc", 3), ("a\nb", 1), ("a; b", 1), ("a\nb \\\n  c\nd", 2),
        ("a\nb\nc \\\n d", 2),
        ("make TARGET=${x}\nb $(c)", 1),
        ("a\nb || exit 1\nc && d", 2),
    ])
    func `the last two commands are where nothing may be trapped`(script: String, line: Int) {
        #expect(ScriptOutline(script).tail == line)
    }

    @Test(arguments: [
        "for i in 1; do a; done\nb", "a <<E\nE\nb", "if a; then\n b\nfi\nc", "a\nb\n# comment", "a\nb\n\n", "a\nb | c",
        "f() {\n a\n}\nb\nf x", "a\n. ./lib\nb", "a\n(b)", "trap x EXIT\na", "",
    ])
    func `where bash takes no other's place, or nobody can tell, the trap stays to the end`(script: String) {
        #expect(ScriptOutline(script).tail == nil)
    }

    // MARK: Notes

    private func notes(_ notes: [String]...) -> [BashNote] {
        BashNote.read(Array(notes.joined().flatMap { word -> [UInt8] in Array(word.utf8) + [0] }))
    }

    private func note(
        _ kind: String, line: Int, of process: Int, _ command: String, status: Int = 1, statuses: String = "1",
        file: String = ""
    ) -> [String] { [kind, "\(status)", "\(line)", "\(process)", statuses, file, command] }

    @Test func `the first failure of the script's own shell is to blame`() {
        let read = notes(
            note("E", line: 1, of: 8, "in the background"), note("D", line: 2, of: 7, "started"),
            note("E", line: 3, of: 7, "failed", statuses: "0 1 0"), note("E", line: 9, of: 7, "in a trap"))
        #expect(read.count == 4)
        #expect(read.culprit(of: 7)?.command == "failed")
        #expect(read.culprit(of: 7)?.statuses == [0, 1, 0])
        #expect(read.culprit(of: 9) == nil)
    }

    @Test func `of a subshell the command inside is to blame`() {
        let read = notes(
            note("E", line: 5, of: 8, "other", status: 3), note("E", line: 3, of: 8, "inner", status: 2),
            note("E", line: 6, of: 7, "( cd x; inner )", status: 2))
        #expect(read.culprit(of: 7)?.command == "inner")
    }

    @Test func `where nothing was trapped any more, the command that was started last is`() {
        let read = notes(note("D", line: 5, of: 7, "a"), note("D", line: 6, of: 7, "b"), note("D", line: 7, of: 8, "c"))
        #expect(read.culprit(of: 7)?.command == "b")
    }

    @Test func `what is cut off is left out`() {
        let words = note("E", line: 1, of: 7, "a\nb", file: "./lib.sh")
        let whole = words.flatMap { word -> [UInt8] in Array(word.utf8) + [0] }
        #expect(BashNote.read(whole).first?.command == "a\nb")
        #expect(BashNote.read(whole).first?.file == "./lib.sh")
        for length in 0..<whole.count { #expect(BashNote.read(Array(whole.prefix(length))).isEmpty) }
        #expect(BashNote.read([]).isEmpty)
    }

    // MARK: Interpreters

    @Test func `a shebang is read as the kernel reads it`() {
        func words(_ script: String, isTraced: Bool = false) -> [String]? {
            Shebang(script)?.command(for: "file", isTraced: isTraced)
        }
        #expect(words("#!/bin/sh\necho") == ["/bin/sh", "file"])
        #expect(words("#! /usr/bin/env  -S python3 -u \r\nprint()") == ["/usr/bin/env", "-S python3 -u", "file"])
        #expect(words("#!/usr/bin/awk -f") == ["/usr/bin/awk", "-f", "file"])
        #expect(words("# !/bin/sh") == nil && words(" #!/bin/sh") == nil && words("#!\n") == nil && words("") == nil)
        #expect(words("#!/bin/bash -e\n", isTraced: true) == ["/bin/bash", "-x", "-e", "file"])
        #expect(words("#!/usr/bin/env bash\n", isTraced: true) == ["/usr/bin/env", "bash", "-x", "file"])
        #expect(words("#!/usr/bin/perl\n", isTraced: true) == ["/usr/bin/perl", "file"])
    }

    @Test func `shells get -x before -c, other programs as they are`() {
        #expect(TracedShell.words(Shell.sh.arguments) == ["sh", "-e", "-x", "-c"])
        #expect(TracedShell.words(["/bin/zsh", "-c"]) == ["/bin/zsh", "-x", "-c"])
        #expect(TracedShell.words(["python3", "-c"]) == ["python3", "-c"])
        #expect(TracedShell.words(["bash"]) == ["bash"])
    }
}
