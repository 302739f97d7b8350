import FlowrunTestSupport
import Foundation
import Testing

@testable import WorkflowConversion

/// What is put into scripts, read by a real shell.
struct ShellTests {
    /// `<X>` is where the template stood. The value has what a shell would trip over.
    @Test(arguments: [
        "echo <X>", "echo \"<X>\"", "echo '<X>'", "echo 'a<X>'", "echo '<X>b'", "echo 'a <X> b' c", "echo '<X><X>'",
        "echo \"a <X> b\"", "echo <X>tail", "echo \"<X>tail\"", "echo 'a'<X>'b'", "echo \"$(echo '<X>')\"",
        "echo \"$(echo \"<X>\")\"", "cat <<END\nit's <X>\nEND", "cat <<-END\n\t<X>\n\tEND\necho '<X>'",
        "echo it\\'s '<X>'", "echo a # it's\necho '<X>'", "echo '\"'<X>'\"' '<X>'", "cat <<<'<X>'",
    ])
    func `a variable is read wherever its template stood`(_ script: String) throws {
        var text = ShellText()
        let parts = script.split(separator: "<X>", omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            if index > 0 { text.append(variable: "X") }
            text.append(part)
        }
        let written = text.finish()
        let value = "v1"
        #expect(
            try output(of: written, ["X": value]) == output(of: script.replacing("<X>", with: value), [:]), "\(written)"
        )
        // In quotes it stays one word, whatever it has.
        guard script.hasPrefix("echo '") || script.hasPrefix("echo \"<"), !script.contains("'<X>'b") else { return }
        #expect(try output(of: written, ["X": "a  * b"]).contains("a  * b"), "\(written)")
    }

    @Test func `a here-document in quotes has no place for a variable`() {
        var text = ShellText()
        text.append("cat <<'END'\n")
        text.append(variable: "X")
        text.append("\nEND\n")
        _ = text.finish()
        #expect(text.problem != nil)
    }

    @Test(arguments: [
        (["cd /tmp", "pwd"], "(cd /tmp)\npwd"), (["a", "b"], "a\nb"), (["make && cd x", "b"], "(make && cd x)\nb"),
        (["a", "cd x"], "a\ncd x"), (["X=1", "echo $X"], "(X=1)\necho $X"), (["echo cd", "b"], "echo cd\nb"),
        (["if true; then cd x; fi # why", "b"], "(\nif true; then cd x; fi # why\n)\nb"),
    ])
    func `a command that changes its shell has one of its own`(_ commands: [String], _ script: String) {
        #expect(ShellCommand.script(commands.map { ShellCommand(text: $0) }) == script)
    }

    @Test(arguments: [("rm x", "rm x || true"), ("a; b", "(a; b) || true"), ("a # b", "(\na # b\n) || true")])
    func `a command whose failure does not matter`(_ command: String, _ script: String) {
        #expect(ShellCommand.script([ShellCommand(text: command, isTolerated: true)]) == script)
    }

    private func output(of script: String, _ environment: [String: String]) throws -> String {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(filePath: "/bin/bash")
        process.arguments = ["-ec", script]
        process.environment = environment
        process.standardOutput = pipe
        try process.run()
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self)
    }
}
