internal import Basics

/// The state of a step, a group or one of `vars`, and the reason for it: the answer of `flowrun why`.
package struct StepReport: RecordFields, Sendable {
    package var step = ""
    /// The values of an instance whose id has only a number for them; nil otherwise.
    package var item: String?
    /// nil if it has not ended.
    package var outcome: StepOutcome?
    /// The state before its end, in one word: `running`, `waiting`, `interrupted`.
    package var state: String?
    /// From 1; nil if nothing was started.
    package var attempt: Int?
    /// The ends of the earlier attempts with a status other than 0.
    package var earlier: [String]?
    /// The ids for which it waits.
    package var needs: [String]?
    /// The last lines that it wrote, as far as known.
    package var outputTail: [UInt8]?
    package var cause: Cause?

    package init() {}

    package init(_ step: String, outcome: StepOutcome?) {
        self.step = step
        self.outcome = outcome
    }

    package init(_ step: String, state: String) {
        self.step = step
        self.state = state
    }

    package mutating func fields<Visitor: RecordVisitor & ~Copyable>(_ visitor: inout Visitor) {
        visitor.step(&step)
        visitor.optional("item", &item, "values of a copy whose id has only a number for them")
        visitor.optional("outcome", &outcome, "how it ended")
        visitor.optional("state", &state, "the state of what has not ended")
        visitor.optional("attempt", &attempt, "which try of the step this is, from 1")
        visitor.optional("earlier", &earlier, "how the tries before it ended, those that did not exit with 0")
        visitor.optional("waiting_for", &needs, "ids of what it waits for")
        visitor.optional("output_tail", &outputTail, "the last lines that it wrote")
        visitor.optional("cause", &cause, "why it ended without success")
    }
}

extension StepReport {
    /// Returns whole lines: the step, then the links of the chain down to its root, then the root's output. `find`
    /// returns the report of the root, `file` the path with all of a step's output; nil for unknown.
    package func text(file: (String) -> String? = { _ in nil }, _ find: (String) -> StepReport?) -> String {
        var (writer, tail) = (step, outputTail ?? [])
        if tail.isEmpty, case .step(let root) = cause?.root.subject, root != step {
            (writer, tail) = (root, find(root)?.outputTail ?? [])
        }
        return text(with: tail, in: file(writer))
    }

    /// `attempt 3, after exit 1, exit 1`; empty if there is nothing to say.
    private var details: [String] {
        var details: [String] = []
        if let attempt, attempt > 1 {
            details.append("attempt \(attempt)")
            if let earlier { details.append("after \(earlier.joined(separator: ", "))") }
        }
        if let needs, !needs.isEmpty { details.append("for \(needs.map { "`\($0)`" }.joined(separator: ", "))") }
        return details
    }

    /// `outputFile` has the whole output of which `tail` is the end; nil if no file has.
    private func text(with tail: [UInt8], in outputFile: String?) -> String {
        var text = LogText(isColored: false)
        text.add("\(InstanceValues.title(step, item: item)): \(outcome?.rawValue ?? state ?? "unknown")")
        for detail in details { text.add(", \(detail)") }
        text.newline()
        var next = cause
        var isFirst = true
        while let link = next {
            // The first link is about the step itself, or has a subject of its own.
            let isOwn = isFirst && (link.cause != nil || link.subject.words == step) || link.kind == .member
            text.add(isFirst ? "  " : "  because ")
            text.add(isOwn || link.subject == .run ? link.ownWords : "\(link.subject.words): \(link.message)")
            if let file = link.file { text.add(" (\(file)\(link.line.map { ":\($0)" } ?? ""))") }
            text.newline()
            next = link.cause
            isFirst = false
        }
        var sanitizer = OutputSanitizer(mark: "    | ", keepsColors: false)
        tail.withUnsafeBytes { bytes in
            let start = OutputExcerpt.start(in: bytes)
            if start > 0 {
                let rest = outputFile.map { "all of the output is in \($0)" } ?? "`flowrun replay` shows the whole run"
                text.add("    (the last lines; \(rest))")
                text.newline()
            }
            sanitizer.append(UnsafeRawBufferPointer(rebasing: bytes[start...]), to: &text.buffer)
        }
        sanitizer.finish(to: &text.buffer)
        return text.buffer.text
    }
}

/// An event of a step that has its `name` and the values of its fan-out.
protocol TitledStep {
    var step: String { get }
    var name: String? { get }
    var item: String? { get }
}

extension TitledStep {
    var title: String { StepTitle.words(step, name: name, item: item) }
}

extension StepStarted: TitledStep {}
extension StepFinished: TitledStep {}
extension StepRestored: TitledStep {}

/// The title of a step as shown to users: its id, followed by the values that its number abbreviates and by its
/// `name`, if they say more.
enum StepTitle {
    static func words(_ id: String, name: String?, item: String? = nil) -> String {
        let name = name.flatMap { says($0, moreThan: id) ? $0 : nil }
        let parts = [InstanceValues.words(id, item: item), name].compactMap(\.self)
        return parts.isEmpty ? id : "\(id) (\(parts.joined(separator: ": ")))"
    }

    /// False for `Run tests` with the id `ci.run-tests`, or with that of one of its instances.
    private static func says(_ name: String, moreThan id: String) -> Bool {
        let outside = id.last == "]" ? id[..<(id.lastIndex(of: "[") ?? id.endIndex)] : id[...]
        let own = outside.lastIndex(of: ".").map { outside[outside.index(after: $0)...] } ?? outside
        return letters(name[...]) != letters(own)
    }

    private static func letters(_ text: Substring) -> String {
        String(text.lowercased().filter { $0.isLetter || $0.isNumber })
    }
}

/// The values of an instance whose id has only a number for them.
package enum InstanceValues {
    /// The most characters that are shown.
    private static let lengthLimit = 64

    /// Returns the text to show after the id of an instance, or of a node inside one; nil if the id has the values
    /// itself. `item` has the values, separated by commas.
    package static func words(_ id: String, item: String?) -> String? {
        guard let item, let open = id.lastIndex(of: "["), let close = id[open...].firstIndex(of: "]") else {
            return nil
        }
        let key = id[id.index(after: open)..<close]
        guard !key.isEmpty, key.utf8.allSatisfy({ $0 &- 0x30 < 10 }), key != item[...] else { return nil }
        let shown = item.visible
        return shown.count > lengthLimit ? "\(shown.prefix(lengthLimit))…" : shown
    }

    /// Returns the id, followed by the values if it does not have them.
    package static func title(_ id: String, item: String?) -> String {
        words(id, item: item).map { "\(id) (\($0))" } ?? id
    }
}
