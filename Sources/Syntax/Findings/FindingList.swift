/// Collects findings up to a limit: a thousand are more than enough to read, and a hostile file makes millions.
///
/// Errors and warnings are limited apart, so that warnings never crowd out the error that makes a file invalid. A
/// finding that repeats at one place, because the place is used twice, is kept once.
package struct FindingList: Sendable {
    /// The number of findings that are kept of each severity.
    package static let limit = 1000

    private var kept: [Diagnostic] = []
    private var told: Set<Told> = []
    private var errors = 0
    private var warnings = 0

    private struct Told: Hashable {
        let code: DiagnosticCode
        let range: SourceRange
        let message: String
    }

    package init() {}

    /// True if no further error is kept, so that a caller need not compose one.
    package var isFull: Bool { errors >= Self.limit }

    /// The number of findings that are kept.
    package var count: Int { kept.count }

    /// Makes and keeps a finding, unless the limit of its severity is reached.
    package mutating func add(_ severity: Diagnostic.Severity, _ finding: () -> Diagnostic) {
        if (severity == .error ? errors : warnings) < Self.limit {
            let finding = finding()
            let told = Told(code: finding.code, range: finding.range, message: finding.message)
            guard self.told.insert(told).inserted else { return }
            kept.append(finding)
        }
        if severity == .error { errors += 1 } else { warnings += 1 }
    }

    /// Adds the findings of another list, and its count of those that were left out. Both lists have the same limit, so
    /// this one would not have kept them either.
    package mutating func append(_ other: FindingList) {
        for finding in other.kept { add(finding.severity) { finding } }
        errors += other.errors - other.kept.count { $0.severity == .error }
        warnings += other.warnings - other.kept.count { $0.severity == .warning }
    }

    /// True if a finding that was kept since there were `count` of them fulfils a condition.
    package func contains(since count: Int, where condition: (Diagnostic) -> Bool) -> Bool {
        kept[count...].contains(where: condition)
    }

    /// The findings in the order of their places, the last one with a note on the number of those left out.
    package var sorted: [Diagnostic] {
        if kept.count < 2 { return kept }
        let omitted = errors + warnings - kept.count
        var findings = kept.sortedByPlace()
        if omitted > 0, let last = findings.popLast() {
            findings.append(last.adding([Diagnostic.Note("\(Phrase.count(omitted, "more finding")) not shown")]))
        }
        return findings
    }
}
