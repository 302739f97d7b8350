import FlowrunTestSupport
import Foundation
import Testing

/// The page for those who come from another tool: every right-hand cell runs.
@Suite struct ComingFromTests {
    /// A row of one of the page's tables.
    struct Row: Sendable, CustomTestStringConvertible {
        let tool: String
        let left: String
        let right: String

        /// The pieces of code on the right, in order.
        var code: [String] { right.matches(of: /`([^`]+)`/).map { String($0.1) } }
        var commands: [String] { code.filter { $0 == "flowrun" || $0.hasPrefix("flowrun ") } }
        var lines: [String] { code.filter { !commands.contains($0) } }
        var testDescription: String { "\(tool): \(left)" }
    }

    private static let path = "Sources/FlowrunCommands/Flowrun.docc/ComingFrom.md"

    static let rows: [Row] = {
        var rows: [Row] = []
        for line in (try? PackageDocument(path).lines) ?? [] where line.hasPrefix("| ") && line.hasSuffix(" |") {
            let cells = line.dropFirst(2).dropLast(2).split(separator: " | ")
            guard cells.count == 2 else { continue }
            rows.append(Row(tool: rows.last?.tool ?? "", left: String(cells[0]), right: String(cells[1])))
            if cells[1] == "flowrun" { rows[rows.count - 1] = Row(tool: String(cells[0]), left: "", right: "") }
        }
        return rows
    }()

    @Test func `the page has a table for each tool`() {
        #expect(Set(Self.rows.map(\.tool)) == ["make", "just", "task", "GitHub Actions"])
        for tool in Set(Self.rows.map(\.tool)) { #expect(Self.rows.count { $0.tool == tool } >= 15, "\(tool)") }
        // Nothing is left out because it cannot be read.
        #expect(Self.rows.filter { !$0.left.isEmpty && $0.code.isEmpty }.allSatisfy { $0.right == "nothing yet" })
        #expect(Self.rows.count { $0.right == "nothing yet" } <= 3)
    }

    @Test(arguments: rows.filter { !$0.code.isEmpty })
    func `what is on the right runs`(row: Row) async throws {
        let test = try FlowrunTest(files: Self.files)
        let workflow = Self.workflow(of: row)
        for name in ["flowrun.yml", "other.yml", "src/flowrun.yml"] { try test.write(workflow, to: name) }
        try await test.run("check", "--strict", "flowrun.yml").expect(exit: 0)
        for command in row.commands.isEmpty ? ["flowrun"] : row.commands {
            let words = command.split(separator: " ").dropFirst().map(String.init)
            let path = "\(test.path("bin")):\(ProcessInfo.processInfo.environment["PATH"] ?? "")"
            let result = try await test.start(
                words, environment: ["PATH": path, "TOKEN": "t0k3n"], launcher: Self.setUp
            )
            .finish()
            result.expect(exit: 0)
            guard !["list", "show"].contains(words.first), !words.contains("--dry-run") else { continue }
            // What the row is about has run, unless its own condition was false.
            #expect(result.stdout.contains("success in "), "\(result.stdout)")
            if !row.right.contains("if:"), !row.right.contains("on-failure:") {
                #expect(!result.stdout.contains("skipped"), "\(result.stdout)")
            }
        }
    }

    /// Makes the programs that the cells call, which do nothing.
    private static let setUp = [
        "sh", "-c",
        #"mkdir -p bin && for name in cc make cargo npm; do printf '#!/bin/sh\n' > bin/$name; done; "#
            + #"printf '#!/bin/sh\n' > upload; chmod +x bin/* upload; exec "$0" "$@""#,
    ]
    private static let files = [
        "VERSION": "1.2\n", "a.c": "", "b.c": "", "src/c.c": "", "web/index": "", "old": "",
        "lib/lib.yml":
            "version: 1\nparams: { kind: { default: release } }\nsteps: { make: { run: 'echo \"$kind\"' } }\n",
    ]

    /// The words that are keys of the file and not ids.
    private static let topKeys: Set<String> = [
        "default", "params", "env", "dotenv", "defaults", "secrets", "pools", "outputs", "max-parallel", "finally",
        "on-failure", "timeout", "vars", "templates",
    ]

    /// The lines of a cell as a whole file, with a step for every id that is needed and not there.
    private static func workflow(of row: Row) -> String {
        let isTop = { (line: String) in topKeys.contains(String(line.prefix { $0 != ":" })) }
        let steps = row.lines.filter { !isTop($0) }
        let ids = Set(steps.map { String($0.prefix { $0 != ":" }) })
        var needed = Set(
            row.lines.flatMap { line in
                line.matches(of: /(?:needs|default): \[([^\]]+)\]/).flatMap { $0.1.split(separator: ", ") }
            }.map(String.init))
        for command in row.commands {
            let words = command.split(separator: " ").dropFirst().prefix { $0 != "--" }
            needed.formUnion(
                words.filter { $0.allSatisfy(\.isLetter) && !["run", "list", "src"].contains($0) }.map(String.init))
        }
        let others = needed.subtracting(ids).sorted().map { "\($0): { run: \"true\" }" }
        let all = steps + (others + (steps.isEmpty && others.isEmpty ? ["any: { run: \"true\" }"] : []))
        return "version: 1\n" + row.lines.filter(isTop).joined(separator: "\n") + "\nsteps:\n"
            + all.map { "  \($0)\n" }.joined()
    }
}
