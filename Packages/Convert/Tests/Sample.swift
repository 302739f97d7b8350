import FlowrunTestSupport
import Foundation
import Planning
import Syntax
import Testing
import Workflow
import WorkflowConversion

/// A file of another tool, and what it comes to.
struct Sample: Sendable, CustomTestStringConvertible {
    let path: String

    /// The name that the tool's file would have.
    var name: String { String(path.split(separator: "/").last ?? "") }
    var testDescription: String { path }
    var format: Substring { path.prefix { $0 != "/" } }

    static let all: [Sample] = {
        let folder = "\(PackageFolder.path)/Packages/Convert/Tests/Samples"
        let paths = (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []
        return paths.sorted().filter { $0.contains(".") && !$0.hasPrefix("micro/") }.map(Sample.init)
    }()

    func text() throws -> String {
        let folder = "\(PackageFolder.path)/Packages/Convert/Tests/Samples"
        return try String(contentsOfFile: "\(folder)/\(path)", encoding: .utf8)
    }

    func draft(of text: String) throws -> WorkflowDraft {
        guard let file = ForeignFile(SourceFile(name: name, text: text)) else { throw UnknownKind() }
        return try file.draft()
    }

    struct UnknownKind: Error {}
}

/// All that `flowrun check` says about a workflow.
func findings(in text: String) -> [Diagnostic] {
    let (workflow, findings) = WorkflowDecoder.read(SourceFile(name: "flowrun.yml", text: text))
    return findings + (workflow.map(Planner.findings) ?? [])
}

/// The lines with an error.
func wrongLines(_ text: String) -> [Int] {
    findings(in: text).filter { $0.severity == .error }.map { $0.file.line(at: $0.range.lowerOffset) }
}

/// What a file of another tool comes to.
func converted(_ text: String, _ name: String) throws -> String {
    var draft = try Sample(path: name).draft(of: text)
    draft.settle(check: wrongLines)
    return draft.text
}
