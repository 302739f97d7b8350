import Syntax
import Testing
import Workflow

/// Which steps take the words behind `--`.
struct `A step takes arguments` {
    private func takes(_ run: String) throws -> Bool {
        let checked = checkStep("run: \(run)")
        #expect(checked.summary == [], "\(run)")
        return try #require(checked.workflow).takesArguments(NodeIndex(1))
    }

    @Test(arguments: [
        #"'x "$@"'"#, "x $*", "x $1", "x ${2}", "x ${10:-y}", "test $# -gt 0", "echo ${#}", "echo ${#@}", "shift; x",
        "x ${@:2}", "while shift; do x; done", "import sys; print(sys.argv)", "puts ARGV[0]", #"[x, "${{ args }}"]"#,
        #"[x, "-f=${{ join(args, ',') }}"]"#, #"[x, "${{ args[0] }}"]"#,
    ])
    func `where it reads them`(run: String) throws { #expect(try takes(run)) }

    @Test(arguments: [
        "x", "x $0", "x $$", "x ${#name}", "x $name1", "x ${name}", "shifted", "x $", "x ${", "[x, '$1']", "x args",
        #"[x, "${{ run.id }}"]"#, "[x, args]",
    ])
    func `and not where it does not`(run: String) throws { #expect(try !takes(run)) }

    @Test(arguments: [
        ("${{ args }}", true), ("-f=${{ join(args, ',') }}", true), ("args", false), ("${{ run.id }}", false),
    ])
    func `for what a group gives to the body that it uses`(value: String, takes: Bool) throws {
        let checked = Checked(
            """
            version: 1
            templates: { t: { params: { p: {} }, steps: { s: { run: x } } } }
            steps: { a: { uses: t, with: { p: "\(value)" } } }
            """)
        #expect(checked.summary == [])
        #expect(try #require(checked.workflow).takesArguments(NodeIndex(1)) == takes)
    }

    @Test func `a shell keeps its name in front of them, another interpreter gets them alone`() {
        #expect(Shell.bash.command(for: "s") == ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", "s"])
        #expect(Shell.sh.command(for: "s", with: ["a", "b"]) == ["sh", "-e", "-c", "s", "sh", "a", "b"])
        let own = Shell(arguments: ["/usr/bin/zsh", "-c"])
        #expect(own.command(for: "s", with: ["a"]) == ["/usr/bin/zsh", "-c", "s", "/usr/bin/zsh", "a"])
        #expect(Shell(named: "python3").command(for: "s", with: ["a"]) == ["python3", "-c", "s", "a"])
    }

    @Test(arguments: ["args", "vars"])
    func `no variable is called like what expressions keep for themselves`(name: String) {
        let message = "FR0212 `\(name)` has a meaning of its own in expressions"
        #expect(checkStep("run: x\nfor-each: [a]\nas: 1️⃣\(name)").summary == ["1️⃣ " + message])
        #expect(checkStep("run: x\nmatrix: { 1️⃣\(name): [a] }").summary == ["1️⃣ " + message])
        let checked = Checked("version: 1\nparams: { 1️⃣\(name): { type: int } }\nsteps: { a: { run: x } }\n")
        #expect(checked.summary == ["1️⃣ " + message])
    }
}
