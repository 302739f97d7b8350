import FlowrunTestSupport
import Testing

/// Scripts that bash is asked to take notes of behave as if nobody asked.
struct WatchedScriptTests {
    private static let count = 220

    /// The same script under flowrun's watch and as the words of a command, which is handed to bash as it is.
    @Test func `random scripts write and end as under bash -eo pipefail -c`() async throws {
        var generator = SeededGenerator(seed: 20_261_122)
        let scripts = (0..<Self.count).map { _ in Self.script(&generator) } + Self.corners
        var workflow = "version: 1\ndefaults: { streams: separate }\nsteps:\n"
        for (index, script) in scripts.enumerated() {
            workflow += "  watched-\(index): { run: \(Self.quoted(script)) }\n"
            let words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
            workflow += "  plain-\(index): { run: [\(words.map(Self.quoted).joined(separator: ", "))] }\n"
        }
        let test = try FlowrunTest(
            workflow,
            files: [
                "lib.sh":
                    "trap 'echo \"lib: $? $LINENO\"' ERR\nlibrary() {\n  echo library\n  false\n  echo no\n}\n",
                "plain.sh": "helper() {\n  test -f \"$1\"\n}\n",
            ])
        let log = try await test.runLogged("-j", "2", environment: ["_": "/usr/bin/flowrun"]).log()
        var named = 0
        for (index, script) in scripts.enumerated() {
            for stream in ["stdout", "stderr"] {
                let (watched, plain) = ("watched-\(index)", "plain-\(index)")
                #expect(
                    log.output(of: watched, stream: stream) == log.output(of: plain, stream: stream),
                    "\(stream) of\n\(script)")
            }
            let (watched, plain) = (log.finished("watched-\(index)"), log.finished("plain-\(index)"))
            #expect(watched?["exit_code"] == plain?["exit_code"] && watched?["signal"] == plain?["signal"], "\(script)")
            if watched?.cause?.message?.contains(" in `") == true { named += 1 }
        }
        // They were watched: most of the scripts fail, and most of these tell where.
        #expect(named > Self.count / 3)
    }

    /// A YAML scalar in double quotes.
    private static func quoted(_ text: String) -> String {
        let escaped = text.flatMap { character -> String in
            switch character {
            case "\"": "\\\""
            case "\\": "\\\\"
            case "\n": "\\n"
            case "\t": "\\t"
            default: String(character)
            }
        }
        return "\"\(String(escaped))\""
    }

    private static let corners = [
        "set -v\necho a\nfalse || echo b\nfalse\n", "echo a\nset -o verbose\n(exit 2)\n",
        "echo \"<$_>\"\necho 2\n",
        "echo a\nsh -c 'kill -9 $$'\n",
        "echo a\necho b\nA=1 sh -c 'kill -SEGV $$'",
        "trap 'echo bye' EXIT\nfalse\necho b\n",
        "trap 'echo term' TERM\nkill -TERM $$\necho b\nfalse\n",
        "set -e\nfalse || echo no\n! true\ntest -f nope && echo x\n",
        "if then\n",
        "echo 'open\n",
        "cat <<E\nno end\n",
        "f() { echo \"$LINENO $1\"; return 3; }\nf a\necho b\n",
        "exec >&2\necho err\nfalse\n",
        "exec 2>&1\nset -x\nfalse\n",
        "readonly a=1\na=2\necho b\n",
        "declare -f\nalias\nset -o | grep -v -e errtrace -e functrace\ntrue\n",
        "env | grep BASH_ENV\n:\n",
        "bash -c 'echo \"${BASH_ENV-none}\"; false'\necho b\n",
        "echo $0 $# \"$@\" $BASH_SUBSHELL ${BASH_SOURCE[0]-} ${FUNCNAME[0]-}\necho $SHLVL\nfalse\n",
        ". ./plain.sh\nhelper nope\n",
    ]

    // MARK: Making scripts

    private static func script(_ generator: inout SeededGenerator) -> String {
        let lines = (0..<Int.random(in: 2...7, using: &generator)).map { _ in piece(&generator) }
        let script = lines.joined(separator: "\n") + (Bool.random(using: &generator) ? "\n" : "")
        // A trace shows the members of a pipeline, and jobs in the background, in the order in which they happen to start.
        return script.contains("|") || script.contains("&\n") ? script.replacing("set -x", with: "set +x") : script
    }

    private static func piece(_ generator: inout SeededGenerator) -> String {
        let command = commands.randomElement(using: &generator)!
        let other = commands.randomElement(using: &generator)!
        switch Int.random(in: 0..<24, using: &generator) {
        case 0: return "(\n  \(command)\n  \(other)\n)"
        case 1: return "x=$(\(command)\n\(other)); echo \"$x\""
        case 2: return "for i in 1 2; do\n  \(command)\ndone"
        case 3: return "if \(command); then\n  \(other)\nelse\n  echo else\nfi"
        case 4: return "f() {\n  \(command)\n  echo \"$LINENO ${FUNCNAME[0]}\"\n}\nf one \"two three\""
        case 5: return "\(command) |\n  cat"
        case 6: return "\(command) && \(other)"
        case 7: return "\(command) || \(other)"
        case 8: return "{ \(command); \(other); } 2>&1"
        case 9: return "cat <<'E'\n$LINENO \(command)\nE"
        case 10: return "cat <<E\n$LINENO $_\nE"
        case 11: return traps.randomElement(using: &generator)!
        default: return command
        }
    }

    private static let commands = [
        "true", "false", "echo \"$LINENO\"", "echo \"$_\"", "echo \"$?\"", "echo \"${PIPESTATUS[@]}\"", "test -f nope",
        "[[ a == b ]]", "((1 == 2))", "ls nope", "nosuchcommand", "cd nope", "grep x /dev/null", "set +e", "set -e",
        "set -u; echo \"$nope\"", "set -x", "set -E", "echo a \\\n  b", "printf '%s\\n' \"two\nlines\"", "exit 3",
        "return 2", "eval 'false; true'", "eval 'echo \"$LINENO\"'", "echo \"${missing:?gone}\"", "sh -c 'exit 4'",
        "sh -c 'echo out; echo err >&2'", "read -r line <<<text", "echo x >/nope/x", "local a=1", "wait",
        "(exit 5)", "! true", "true | false | true", "a=(1 2 3); echo \"${a[@]}\"", "# a comment", "", ":",
        "echo last > last.txt", ". ./plain.sh", "command -v nosuchcommand", "set -- 1 2 3; shift; echo \"$@\"",
        "case $LINENO in 1) echo one ;; *) echo more ;; esac", "while false; do :; done", "true &\nwait",
        "false &\nwait", "cat < <(echo sub; false)", "echo \"${BASH_COMMAND}\"", "shopt -s inherit_errexit",
    ]

    private static let traps = [
        "trap 'echo \"exit $? $LINENO $BASH_COMMAND\"' EXIT", "trap 'echo \"err $? $LINENO\"' ERR",
        "trap 'echo \"debug $LINENO\"' DEBUG", "trap - ERR", "trap 'echo usr1' USR1; kill -USR1 $$", ". ./lib.sh",
        ". ./lib.sh; library", "trap 'exit 7' EXIT", "trap 'echo return' RETURN",
    ]
}
