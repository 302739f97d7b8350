import FlowrunTestSupport
import Foundation
import Testing

/// The completion scripts, in the shells they are for.
@Suite struct CompletionTests {
    /// Answers what a shell would complete the last of the given words to, one line each.
    private static let completeInBash = #"""
        source <("$0" completion bash)
        binary=$0; flowrun() { "$binary" "$@"; }
        COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}; COMP_TYPE=9
        registered=$(complete -p flowrun)
        [[ $registered =~ -F\ ([^ ]+) ]] && "${BASH_REMATCH[1]}" flowrun "${@: -1}" "${@: -2:1}"
        printf '%s\n' "${COMPREPLY[@]}"
        """#

    @Test(arguments: [
        (["ch"], ["check"]), (["check", "--form"], ["--format"]),
        (["check", "--format", ""], ["text", "json", "sarif", "github"]),
        (["run", "--log-f"], ["--log-file"]), (["run", "--output", "s"], ["stream"]),
        (["run", "wor"], ["workflow.yml"]), (["explain", "FR0301"], ["FR0301"]),
        (["ctl", "pa"], ["pause"]), (["run", "--pau"], ["--paused"]), (["why", "--st"], ["--state-dir"]),
        (["--log", "=", "q"], ["quiet"]),
        (["workflow.yml", ""], ["a", "b"]), (["workflow.yml", "--param", "c"], ["channel="]),
        (["-C", "fo"], ["folder"]), (["run", "--log-file", ".f"], [".folder"]),

        (["-C", ".f"], [".folder"]),
    ])
    func `bash completes commands, options, values and files`(words: [String], answers: [String]) async throws {
        let test = try FlowrunTest(
            "version: 1\nparams: { channel: { type: string } }\nsteps: { a: { run: x }, b: { run: x } }\n",
            files: ["folder/file": "", ".folder/file": "", ".flowrun/file": ""])
        let result = try await test.start(
            ["flowrun"] + words, launcher: ["bash", "--noprofile", "--norc", "-c", Self.completeInBash]
        ).finish()
        result.expect(exit: 0, stdout: answers.map { "\($0)\n" }.joined(), stderr: "")
    }

    @Test func `bash completes a file where the command is left out`() async throws {
        let script = try await FlowrunTest().run("completion", "bash").stdout
        // Readline's own answer would have the state of flowrun in it.
        #expect(script.contains("\ncomplete -F _flowrun flowrun\n"))
        #expect(script.contains(#"files | "") mapfile -t paths < <(compgen -f"#))
    }

    private static let shells = ["bash", "zsh", "fish"].filter { shell in
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains {
            FileManager.default.isExecutableFile(atPath: "\($0)/\(shell)")
        }
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func `a shell reads its script without complaint, where it is installed`(shell: String) async throws {
        let test = try FlowrunTest()
        let script = try await test.run("completion", shell)
        script.expect(exit: 0, stderr: "")
        #expect(script.stdout.contains("flowrun"))
        guard Self.shells.contains(shell) else { return }
        try test.write(script.stdout, to: "script")
        // The program's own path comes first and becomes `$0`, or an argument that nobody reads.
        try await test.run(launcher: [shell, "-n", "script"]).expect(exit: 0, stdout: "", stderr: "")
    }
}
