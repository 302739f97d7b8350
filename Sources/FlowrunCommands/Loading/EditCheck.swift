package import Syntax

/// Tries the edits of findings before they are offered: applies each to the text and checks the result.
///
/// Drops an edit if a finding remains at the place it was to fix, is in the new text or right after it, mentions it,
/// or is the same finding in other words. The description of the fix remains. Each trial reads all files again, so
/// the bytes to be read limit the number of trials. Findings beyond the limit have no edits, and get them once the
/// first ones are fixed.
package struct EditCheck {
    /// Returns all findings of the workflow with other bytes for one of its files.
    package typealias Findings = (_ file: SourceFile, _ bytes: [UInt8]) -> [Diagnostic]

    /// The most bytes that are read again for one workflow; at least `leastTrials` edits are tried in any case.
    private static let workLimit = 8 << 20
    /// The cost of making one finding again, in bytes of text.
    private static let costOfFinding = 512
    private static let leastTrials = 4

    private let findings: Findings
    private let size: Int
    /// The findings of the unedited workflow.
    private var known: [Told: Int] = [:]

    /// `size` is that of all files of the workflow.
    package init(size: Int, findings: @escaping Findings) {
        self.findings = findings
        self.size = size
    }

    /// Returns the findings without the edits that would not fix them.
    package mutating func checked(_ diagnostics: [Diagnostic]) -> [Diagnostic] {
        known = Dictionary(diagnostics.map { (Told($0), 1) }, uniquingKeysWith: +)
        let cost = size + diagnostics.count * Self.costOfFinding
        var workLeft = max(Self.workLimit, Self.leastTrials * cost)
        return diagnostics.map { finding in
            guard let fix = finding.fix, !fix.edits.isEmpty else { return finding }
            guard workLeft >= cost else { return finding.with(.init(fix.description)) }
            workLeft -= cost
            return mends(fix.edits, finding) ? finding : finding.with(.init(fix.description))
        }
    }

    private func mends(_ edits: [Diagnostic.Fix.Edit], _ finding: Diagnostic) -> Bool {
        let file = finding.file
        guard let edited = EditedText(file, edits) else { return false }
        let places = edited.places(of: finding.range.lowerOffset - file.start)
        // An open bracket may be reported at a different place than before.
        let noted = finding.notes.compactMap { note in note.range.flatMap { place(of: $0, finding, in: file) } }
            .reduce(places) { $0.union(edited.places(of: $1.lowerBound)) }
        let own = Told(finding)
        for other in findings(file, edited.bytes) {
            let place = place(of: other.range, other, in: file)
            if let place, places.contains(place.lowerBound) || edited.isNew(place.lowerBound) { return false }
            // The parser stops at the mistake that the edit was to fix.
            if other.code == .yamlSyntax, finding.code == .yamlSyntax, let place, place.lowerBound < edited.end {
                return false
            }
            let told = Told(other)
            // The same finding existed before at another place.
            guard known[told, default: 0] <= (told == own ? 1 : 0) else { continue }
            if let place, noted.contains(place.lowerBound) || edited.isNew(place) || edited.isBehind(place.lowerBound) {
                return false
            }
            for note in other.notes {
                guard let place = note.range.flatMap({ self.place(of: $0, other, in: file) }) else { continue }
                if edited.isNew(place.lowerBound) { return false }
                if other.code == finding.code, noted.contains(place.lowerBound) { return false }
            }
        }
        return true
    }

    /// Returns the place of a finding's range in `file`; nil if it is in another file.
    private func place(of range: SourceRange, _ finding: Diagnostic, in file: SourceFile) -> Range<Int>? {
        let own = finding.file(of: range)
        return own.name == file.name ? range.lowerOffset - own.start..<range.upperOffset - own.start : nil
    }

    /// A finding without its place.
    private struct Told: Hashable {
        let code: DiagnosticCode
        let message: String

        init(_ finding: Diagnostic) { (code, message) = (finding.code, finding.message) }
    }
}

/// The bytes of a file after edits, with the places of the new text.
private struct EditedText {
    private(set) var bytes: [UInt8] = []
    /// The replaced ranges and the ranges of their replacements, in the order of the file.
    private var changes: [(old: Range<Int>, new: Range<Int>)] = []

    /// Returns nil if an edit is outside of the file, or if two overlap.
    init?(_ file: SourceFile, _ edits: [Diagnostic.Fix.Edit]) {
        var end = 0
        for edit in edits.sorted(by: { $0.range.start < $1.range.start }) {
            let old = edit.range.lowerOffset - file.start..<edit.range.upperOffset - file.start
            guard old.lowerBound >= end, old.upperBound <= file.bytes.count else { return nil }
            bytes += file.bytes[end..<old.lowerBound]
            let start = bytes.count
            bytes += edit.replacement.utf8
            changes.append((old, start..<bytes.count))
            end = old.upperBound
        }
        bytes += file.bytes[end...]
    }

    /// Returns the new places of a place in the old text: after a text inserted there, and before it as well.
    func places(of offset: Int) -> Set<Int> {
        var shift = 0
        var places: Set<Int> = []
        for (old, new) in changes {
            if old.contains(offset) { return places.union([new.lowerBound]) }
            guard old.upperBound <= offset else { break }
            if old.upperBound == offset { places.insert(new.lowerBound) }
            shift = new.upperBound - old.upperBound
        }
        return places.union([offset + shift])
    }

    /// The end of the last replacement.
    var end: Int { changes.last?.new.upperBound ?? 0 }

    /// True if an offset of the edited text is in a replacement.
    func isNew(_ offset: Int) -> Bool { changes.contains { $0.new.contains(offset) } }

    /// True if an offset of the edited text is right after a replacement.
    func isBehind(_ offset: Int) -> Bool { changes.contains { !$0.new.isEmpty && $0.new.upperBound == offset } }

    /// True if a range of the edited text overlaps a replacement.
    func isNew(_ range: Range<Int>) -> Bool { changes.contains { $0.new.overlaps(range) } }
}
