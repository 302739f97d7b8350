import FlowrunTestSupport
import Foundation
import Testing

/// A workflow file with a mistake, or one that looks wrong and is right.
struct BadCase: CustomTestStringConvertible {
    enum Verdict: String {
        case reject, warn, accept
    }

    /// A sentence, the case's name.
    let what: String
    let verdict: Verdict
    /// A marker stands at each place that a finding has to name.
    let text: String

    var testDescription: String { "\(verdict): \(what)" }

    /// Those of `Documents`, several in a file below a line `==== verdict: sentence`, and those that would read worse
    /// as a file.
    static let all: [BadCase] = {
        let folder = "\(PackageFolder.path)/Tests/PlanningTests/BadCases/Documents"
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return files.sorted().flatMap { file in
            cases(in: (try? String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8)) ?? "")
        } + generated
    }()

    private static func cases(in file: String) -> [BadCase] {
        file.split(separator: "==== ").compactMap { part in
            let lines = part.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
            let heading = lines[0].split(separator: ": ", maxSplits: 1)
            guard lines.count == 2, heading.count == 2, let verdict = Verdict(rawValue: String(heading[0])) else {
                Issue.record("no case: \(lines[0])")
                return nil
            }
            // The empty line before the next heading is no part of the document.
            let text = lines[1].hasSuffix("\n\n") ? lines[1].dropLast() : lines[1]
            return BadCase(what: String(heading[1]), verdict: verdict, text: String(text))
        }
    }

    private static let generated: [BadCase] = [
        BadCase(what: "a file without a byte", verdict: .reject, text: "1️⃣"),
        BadCase(
            what: "three hundred levels of mappings below an unknown key", verdict: .reject,
            text: "version: 1\nsteps:\n  shout: { run: say hello }\n"
                + (0..<300).map { String(repeating: " ", count: $0) + ($0 == 64 ? "1️⃣" : "") + "x:\n" }.joined()),
        BadCase(
            what: "lines that end in CR LF", verdict: .accept,
            text: "version: 1\r\nsteps:\r\n  shout:\r\n    run: say hello\r\n"),
        BadCase(
            what: "a script of 20,000 characters in one line", verdict: .accept,
            text: "version: 1\nsteps:\n  shout:\n    run: \(String(repeating: "x", count: 20_000))\n"),
    ]
}
