internal import Basics
package import RunEvents

/// Why a step or group is where it is: the answer of `flowrun why`, as text in the form of the log's error summary.
package struct StepReport: Sendable {
    package var step: String
    /// The values of a copy whose id has only a number for them; nil for all others.
    package var item: String?
    /// The outcome, or where it stands while the run lives: `running`, `waiting`.
    package var state: String
    /// How it came to that, in a few words such as `attempt 3, after exit 1, exit 1`; empty where there is nothing to
    /// say.
    package var details: [String] = []
    package var cause: Cause?
    /// The last lines of what the root of the chain wrote, if it is a step and that is known.
    package var outputTail = ""
    /// The file that has all of that output; nil where none has.
    package var outputFile: String?

    package init(step: String, state: String) {
        self.step = step
        self.state = state
    }

    /// Whole lines: the step, then the links of the chain down to its root, then the root's output.
    package var text: String {
        var text = LogText(isColored: false)
        text.add("\(InstanceValues.title(step, item: item)): \(state)")
        for detail in details { text.add(", \(detail)") }
        text.newline()
        var next = cause
        var isFirst = true
        while let link = next {
            // The first link is about the step itself, or says its subject.
            let isOwn = isFirst && (link.cause != nil || link.subject.words == step) || link.kind == .member
            text.add(isFirst ? "  " : "  because ")
            text.add(isOwn || link.subject == .run ? link.ownWords : "\(link.subject.words): \(link.message)")
            if let file = link.file { text.add(" (\(file)\(link.line.map { ":\($0)" } ?? ""))") }
            text.newline()
            next = link.cause
            isFirst = false
        }
        var sanitizer = OutputSanitizer(mark: "    | ", keepsColors: false)
        var tail = outputTail
        tail.withUTF8 { bytes in
            let bytes = UnsafeRawBufferPointer(bytes)
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
