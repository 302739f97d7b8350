import Foundation
package import Testing

/// What one run of the program left: both streams whole, and how it ended.
package struct FlowrunResult: Sendable {
    package let stdout: String
    package let stderr: String
    package let status: ProcessStatus
    /// From its start until it could be waited for.
    package let duration: Duration
    private let folder: String

    init(_ progress: ChildProcess.Progress, folder: String) {
        stdout = String(decoding: progress.stdout, as: UTF8.self)
        stderr = String(decoding: progress.stderr, as: UTF8.self)
        status = progress.end?.status ?? .exited(-1)
        duration = progress.end?.duration ?? .zero
        self.folder = folder
    }

    /// The JSON Lines of standard output, held against the rules of every log. Throws where a line is not a record.
    package func log(sourceLocation: SourceLocation = #_sourceLocation) throws -> EventLog {
        let log = try EventLog(jsonLines: stdout)
        LogInvariants.check(log, sourceLocation: sourceLocation)
        return log
    }

    /// Requires an exit status, with both streams in the message where it is another.
    package func expect(_ wanted: ProcessStatus, sourceLocation: SourceLocation = #_sourceLocation) {
        guard status != wanted else { return }
        Issue.record("ended with \(status), not \(wanted)\n\(streams)", sourceLocation: sourceLocation)
    }

    /// Requires an exit code and, where given, the whole text of a stream. Compared with durations as `<time>` and the
    /// test's folder as `<folder>`.
    package func expect(
        exit code: Int32, stdout wantedOut: String? = nil, stderr wantedErr: String? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        expect(.exited(code), sourceLocation: sourceLocation)
        for (name, found, wanted) in [("output", stdout, wantedOut), ("error", stderr, wantedErr)] {
            guard let wanted, stable(found) != wanted else { continue }
            let difference = Self.difference(from: wanted, to: stable(found))
            Issue.record("standard \(name) differs (- wanted, + found):\n\(difference)", sourceLocation: sourceLocation)
        }
    }

    /// Requires both texts to stand on a stream, in this order.
    package func expect(
        stdout wanted: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) {
        expect(wanted, in: stdout, named: "output", sourceLocation)
    }

    /// Requires these texts to stand on standard error, in this order.
    package func expect(
        stderr wanted: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) {
        expect(wanted, in: stderr, named: "error", sourceLocation)
    }

    private func expect(_ wanted: [String], in stream: String, named name: String, _ sourceLocation: SourceLocation) {
        var rest = stream[...]
        for text in wanted {
            guard let place = rest.firstRange(of: text) else {
                let order = wanted.count > 1 ? ", or not after the one before it" : ""
                Issue.record("`\(text)` is not on standard \(name)\(order)\n\(streams)", sourceLocation: sourceLocation)
                return
            }
            rest = rest[place.upperBound...]
        }
    }

    /// A text without what differs from run to run.
    package func stable(_ text: String) -> String {
        text.replacing(folder, with: "<folder>")
            // The column that says when, the columns and words that say how long.
            .replacing(#/(?m)^ +\d+\.\d{3}  /#, with: "<elapsed>  ")
            .replacing(/\b\d+(\.\d+)?(ms|s)\b/, with: "<time>")
    }

    private var streams: String {
        "--- standard output\n\(stdout.suffix(4000))\n--- standard error\n\(stderr.suffix(4000))"
    }

    private static func difference(from wanted: String, to found: String) -> String {
        let old = wanted.split(separator: "\n", omittingEmptySubsequences: false)
        let new = found.split(separator: "\n", omittingEmptySubsequences: false)
        let changes = new.difference(from: old)
        var removed: Set<Int> = []
        var inserted: Set<Int> = []
        for change in changes {
            switch change {
            case .remove(let offset, _, _): removed.insert(offset)
            case .insert(let offset, _, _): inserted.insert(offset)
            }
        }
        var lines: [String] = []
        var (left, right) = (0, 0)
        while left < old.count || right < new.count {
            if removed.contains(left) {
                lines.append("- \(old[left])")
                left += 1
            } else if inserted.contains(right) {
                lines.append("+ \(new[right])")
                right += 1
            } else {
                lines.append("  \(new[right])")
                left += 1
                right += 1
            }
        }
        return lines.joined(separator: "\n")
    }
}
