import FlowrunTestSupport
import Foundation
import Testing

/// What only asks about a file starts nothing, writes nothing, and looks at nothing beside the file's folder: whoever
/// checks a stranger's workflow must not run a part of it.
struct PurityTests {
    private static let hostile = """
        version: 1
        params: { where: { type: path, default: ../outside.txt } }
        vars:
          made: { run: "touch ../pwned" }
          hash: "${{ hashFiles('../outside.txt') }}"
        secrets: { TOKEN: { file: ../outside.txt } }
        dotenv: ../outside.txt
        steps:
          script: { run: "touch ../pwned", env: { MADE: "${{ vars.made }}" } }
          words: { run: [touch, "${{ glob('../*') }}"], secrets: [TOKEN] }
          each: { for-each: "${{ glob('../*') }}", run: [touch, "${{ item }}"] }
          asked: { run: "touch ../pwned", if: "hashFiles('../outside.txt') != ''" }
        """

    private static let withUse = """
        version: 1
        steps:
          other: { uses: ../outside.yml }
          absolute: { uses: /etc/passwd }
        """

    /// Each behind its command word, with the file last.
    private static let questions = [
        ["check"], ["check", "--strict", "--format", "json"], ["plan"], ["plan", "--format", "json"],
        ["plan", "--simulate"], ["graph"], ["list"],
    ]

    @Test(arguments: questions, [hostile, withUse])
    func `asking about a file starts, writes and reads nothing else`(words: [String], workflow: String) async throws {
        let test = try FlowrunTest(
            files: ["in/workflow.yml": workflow, "outside.txt": "A=1\n", "outside.yml": "version: 1\nsteps: {}\n"])
        let trace = ["strace", "-f", "-qq", "-o", "trace.txt", "-e", "trace=%process,%network,%file"]
        let result = try await test.start(words + ["in/workflow.yml"], launcher: trace).finish()
        #expect(result.status == .exited(0) || result.status == .exited(2), "\(result.stderr)")
        let calls = try test.contents(of: "trace.txt").split(separator: "\n").map(Call.init)
        #expect(calls.contains { $0.name == "openat" && $0.path == "in/workflow.yml" })
        let surprising = calls.dropFirst().filter { !$0.isHarmless }
        #expect(surprising.isEmpty, "\(surprising.map(\.text))")
        #expect(!test.exists("pwned") && !test.exists("in/.flowrun") && !test.exists(".flowrun"))
    }

    /// One line of strace's.
    private struct Call {
        let text: Substring
        /// Behind the process id.
        var name: Substring {
            text.drop { $0 != " " }.drop { $0 == " " }.prefix { $0 != "(" }
        }
        /// The first one it names.
        var path: Substring { text.split(separator: "\"", omittingEmptySubsequences: false).dropFirst().first ?? "" }

        var isHarmless: Bool {
            switch name {
            case "open", "openat", "openat2":
                ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC"].allSatisfy { !text.contains($0) } && isExpected
            case "access", "faccessat2", "stat", "lstat", "newfstatat", "statx", "readlink", "readlinkat", "getcwd",
                "statfs", "exit", "exit_group":
                true
            // The threads of the program's own.
            case "clone", "clone3": text.contains("CLONE_THREAD")
            default: text.hasSuffix("resumed>") || name.hasPrefix("<...") || name.hasPrefix("+++")
            }
        }

        /// The file itself, and what a program needs to start.
        private var isExpected: Bool {
            // Where past runs would have left how long they took.
            path == "in/workflow.yml" || path == "in/.flowrun" || path.contains("/state/flowrun/")
                || path.contains(".so")
                // How many processors there are, and time for how many.
                || [
                    "/proc/self/", "/sys/devices/system/cpu", "/sys/fs/cgroup/", "/etc/ld.so", "/usr/lib/", "/dev/null",
                ]
                .contains { path.hasPrefix($0) }
        }
    }
}
