import FlowrunTestSupport
import Foundation
import Glibc
import Testing

/// `check` on files that are no workflows at all: exit 2, soon, with a place where there is one, never a crash.
struct OddFileTests {
    /// Bounds the processor time: far more than any of these takes, far less than what reading or expanding them whole
    /// would. How long that lasts beside other work does not matter.
    private static let bounded = ["sh", "-c", #"ulimit -t 30; exec "$0" "$@""#]

    enum Odd: String, CaseIterable, Sendable {
        case empty, comment, nul, latin1, overlong, utf16, tabs, aliasBomb, selfAlias, manyAliases
        case flowNesting, mapNesting, blockNesting, unclosed, scalar, list, twoDocuments, tag, hugeKey, manyKeys

        var bytes: [UInt8] {
            switch self {
            case .empty: []
            case .comment: Array("# nothing\n".utf8)
            case .nul: Array("version: 1\nname: a\0b\n".utf8)
            case .latin1: Array("version: 1\nname: caf".utf8) + [0xE9, 10]
            case .overlong: Array("version: 1\nname: ".utf8) + [0xC0, 0xAF, 10]
            case .utf16: [0xFF, 0xFE] + "version: 1\n".utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
            case .tabs: Array("version: 1\nsteps:\n\ta:\n\t\trun: x\n".utf8)
            case .aliasBomb:
                Array(
                    ("a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
                        + (1...12).map { level in
                            let row = Array(repeating: "*a\(level - 1)", count: 9).joined(separator: ", ")
                            return "a\(level): &a\(level) [\(row)]\n"
                        }.joined()).utf8)
            case .selfAlias: Array("version: 1\nsteps: &s\n  a: *s\n".utf8)
            case .manyAliases:
                Array(("a: &a [1, 2, 3]\nb: [" + String(repeating: "*a, ", count: 300_000) + "*a]\n").utf8)
            case .flowNesting: [UInt8](repeating: UInt8(ascii: "["), count: 100_000)
            case .mapNesting: Array(String(repeating: "{a: ", count: 100_000).utf8)
            case .blockNesting: Array(String(repeating: "- ", count: 100_000).utf8)
            case .unclosed: Array("version: 1\nname: \"never\nsteps: {}\n".utf8)
            case .scalar: Array("just words\n".utf8)
            case .list: Array("- a\n- b\n".utf8)
            case .twoDocuments: Array("version: 1\nsteps: { a: { run: x } }\n---\nversion: 1\n".utf8)
            case .tag: Array("version: 1\nname: !!python/object x\nsteps: { a: { run: x } }\n".utf8)
            case .hugeKey: Array(("version: 1\n" + String(repeating: "k", count: 200_000) + ": 1\n").utf8)
            case .manyKeys: Array((0..<100_000).map { "k\($0): 1\n" }.joined().utf8)
            }
        }
    }

    @Test(arguments: Odd.allCases)
    func `a file that is no workflow is refused with a place`(odd: Odd) async throws {
        let test = try FlowrunTest()
        try test.write(odd.bytes, to: "odd.yml")
        let result = try await test.run("check", "odd.yml", launcher: Self.bounded)
        result.expect(exit: 2)
        #expect(result.stdout.contains(#/odd\.yml:\d+:\d+: error\[FR\d{4}\]: /#), "\(result.stdout.prefix(2000))")
        #expect(result.stdout.utf8.count < 1 << 25)
    }

    @Test func `a nesting of a hundred thousand is one finding at the depth where it is too much`() async throws {
        let test = try FlowrunTest()
        try test.write(Odd.flowNesting.bytes, to: "odd.yml")
        let result = try await test.run("check", "odd.yml")
        result.expect(exit: 2)
        result.expect(stdout: "odd.yml:1:", "error[FR0110]")
    }

    @Test func `a file that is missing, a directory, too large or no file is refused by name`() async throws {
        let test = try FlowrunTest(files: ["folder/inside": ""])
        try test.write("version: 1\n", to: "large.yml")
        #expect(truncate(test.path("large.yml"), 70 << 20) == 0)
        #expect(mkfifo(test.path("fifo.yml"), 0o600) == 0)
        #expect(symlink("nowhere", test.path("dangling.yml")) == 0)
        for (name, code) in [
            ("missing.yml", "FR0101"), ("folder/", "FR0101"), ("large.yml", "FR0102"), ("fifo.yml", "FR0101"),
            ("dangling.yml", "FR0101"), ("/dev/zero", "FR0101"),
        ] {
            let result = try await test.run("check", name, launcher: Self.bounded)
            result.expect(exit: 2)
            result.expect(stdout: name, "error[\(code)]: ")
            let run = try await test.run("run", name)
            run.expect(exit: 2, stdout: "")
            run.expect(stderr: name, "error[\(code)]: ")
        }
    }
}
