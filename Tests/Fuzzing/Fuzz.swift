import Glibc
import RunLog
import Syntax
import Workflow

/// Hands bytes to the reader that `FLOWRUN_FUZZ` names. libFuzzer calls it with ever new bytes and stops at the first
/// that end the program.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    reader(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
}

private let reader: @Sendable ([UInt8]) -> Void =
    switch getenv("FLOWRUN_FUZZ").map({ String(cString: $0) }) {
    case "yaml": readWorkflow
    case "expression": readExpression
    case "journal": readJournal
    default: fatalError("FLOWRUN_FUZZ is one of yaml, expression, journal")
    }

/// A workflow file: whatever is wrong with it is found in it.
private func readWorkflow(_ bytes: [UInt8]) {
    let file = SourceFile(name: "workflow.yml", bytes: bytes)
    for finding in WorkflowDecoder.read(file).diagnostics {
        precondition(finding.range.upperOffset <= bytes.count, "\(finding.code) is behind the end of the file")
        for edit in finding.fix?.edits ?? [] {
            precondition(edit.range.upperOffset <= bytes.count, "an edit of \(finding.code) is behind the end")
        }
    }
}

/// An expression, and its value where nothing has one.
private func readExpression(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    let range = SourceRange(0..<text.utf8.count)
    guard let expression = try? ExpressionParser.parse(text, at: range) else { return }
    _ = try? expression.evaluate(in: EmptyScope())
}

/// The journal of a run, event by event.
private func readJournal(_ bytes: [UInt8]) {
    let journal = openat(folder, "journal.jsonl", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    precondition(journal >= 0 && write(journal, bytes, bytes.count) == bytes.count)
    close(journal)
    guard let reader = try? JournalReader(in: folder) else { return }
    while reader.next({ _ in }) {}
}

private let folder: Int32 = {
    var path = Array("/tmp/flowrun-fuzz.XXXXXX\0".utf8CString.dropLast())
    let folder = open(String(cString: mkdtemp(&path)), O_RDONLY | O_DIRECTORY)
    precondition(folder >= 0)
    return folder
}()

private struct EmptyScope: ExpressionScope {
    func value(of name: String) -> Value? { name == "params" ? .object([]) : nil }
    func shared(_ name: String) -> Value? { nil }
    func run(_ field: String?) -> Value? { nil }
    func step(_ id: String, _ field: String?) -> Value? { nil }
    func previous(_ field: String?) -> Value? { nil }
    func status(_ function: StatusFunction) -> Bool { true }
    func files(matching patterns: [String]) -> [String] { [] }
    func hash(files patterns: [String]) -> String { "" }
}
