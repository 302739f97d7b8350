import Basics
import Glibc
import Planning
import RunLog
import Syntax
import Workflow

// Reads what strangers write, as libFuzzer changes it: a workflow, an expression or a journal. A target fails if the
// program traps, hangs, or breaks a rule that holds for every input.
//
//     FLOWRUN_FUZZING=workflow|expression|journal Fuzzing [OPTION OF LIBFUZZER]... [CORPUS]...
//
// `Tests/Scripts/fuzz.py` builds it, collects inputs to begin with, and runs all three.

/// A file is checked and planned, and every finding is drawn.
private func fuzzWorkflow(_ bytes: [UInt8]) {
    let file = SourceFile(name: "workflow.yml", bytes: bytes)
    let (workflow, findings) = WorkflowDecoder.read(file)
    let renderer = DiagnosticRenderer()
    _ = renderer.render(findings)
    guard let workflow else { return precondition(findings.containErrors, "neither a workflow nor an error") }
    let (plan, planFindings) = Planner.plan(workflow)
    _ = renderer.render(planFindings)
    precondition((plan == nil) == planFindings.containErrors, "a plan in spite of an error, or neither")
}

/// An expression is parsed, and its text once more.
private func fuzzExpression(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    let range = SourceRange(0..<text.utf8.count)
    guard let expression = try? ExpressionParser.parse(text, at: range) else { return }
    let again = try? ExpressionParser.parse(expression.text, at: range)
    precondition(again?.text == expression.text, "an expression that does not read its own text")
}

/// The folder of the journal, below `TMPDIR`.
private let folder: CInt = {
    let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var name = Array("\(parent)/flowrun-fuzz-XXXXXX".utf8CString)
    return name.withUnsafeMutableBufferPointer { open(mkdtemp($0.baseAddress!)!, O_RDONLY | O_DIRECTORY) }
}()

/// A journal is read to its end and recovered: what could be read before can still be read then. Its records are
/// sealed here, because a wrong checksum ends the reading.
private func fuzzJournal(_ bytes: [UInt8]) {
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map(sealed)
    let file = openat(folder, JournalWriter.fileName, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    precondition((try? WholeFile.write(Array(lines.joined(separator: [UInt8(ascii: "\n")])), to: file)) != nil)
    close(file)
    let count = countEvents()
    _ = try? JournalEnd(in: folder)
    _ = try? JournalRecovery.recover(in: folder)
    precondition(countEvents() == count, "a recovery that loses records")
}

/// The line with a checksum, if it is an object without one.
private func sealed(_ line: ArraySlice<UInt8>) -> [UInt8] {
    guard line.first == UInt8(ascii: "{"), line.last == UInt8(ascii: "}") else { return Array(line) }
    let content = line.dropLast()
    let crc = content.withUnsafeBytes { CRC32C.digits(CRC32C.of($0)) }
    return content + Array(",\"crc\":\"\(crc)\"}".utf8)
}

/// The number of events in the journal, each of which is added to a view of the run.
private func countEvents() -> Int {
    guard let reader = try? JournalReader(in: folder) else { return 0 }
    let view = RunView()
    var count = 0
    while reader.next({ event in
        view.report(event)
        count += 1
    }) {}
    return count
}

/// The test of one input, which libFuzzer looks for by this name.
@_cdecl("LLVMFuzzerTestOneInput")
func test(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    fuzz(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
}

private let fuzz: @Sendable ([UInt8]) -> Void =
    switch getenv("FLOWRUN_FUZZING").map({ String(cString: $0) }) {
    case "workflow": fuzzWorkflow
    case "expression": fuzzExpression
    case "journal": fuzzJournal
    default: preconditionFailure("FLOWRUN_FUZZING is one of workflow, expression and journal")
    }
