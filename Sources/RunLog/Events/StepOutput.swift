/// Bytes that a step, or the command of one of `vars`, has written: whole lines with their ends, unless `isPartial`.
/// The bytes are a loan, valid while the event is reported; copy what is to be kept.
package struct StepOutput {
    package enum Stream: String, RecordWord, Sendable {
        /// Standard output and standard error through one pipe, in the order in which they were written.
        case output
        /// The two apart, each through a pipe of its own.
        case stdout, stderr
    }

    package enum Writer: Sendable, Hashable {
        case step(String)
        case value(ValueID)

        /// The name that people see.
        package var words: String {
            switch self {
            case .step(let id): id
            case .value(let value): value.words
            }
        }
    }

    package var writer: Writer
    /// Always 1 for one of `vars`.
    package var attempt: Int
    package var stream: Stream
    /// As written, not checked for UTF-8. Joining the events of one stream gives exactly what the step wrote. A piece
    /// that stops inside a line does not stop inside a UTF-8 sequence unless the output ends there, so that each piece
    /// can be repaired by itself.
    package var bytes: UnsafeRawBufferPointer
    /// Whether the bytes stop in the middle of a line: the line is longer than the cap, or the output ended there.
    package var isPartial: Bool

    /// The step that has written; nil for one of `vars`.
    package var step: String? { if case .step(let id) = writer { id } else { nil } }

    package init(
        _ writer: Writer, attempt: Int = 1, stream: Stream = .output, bytes: UnsafeRawBufferPointer = .nothing,
        isPartial: Bool = false
    ) {
        self.writer = writer
        self.attempt = attempt
        self.stream = stream
        self.bytes = bytes
        self.isPartial = isPartial
    }

    mutating func fields<Visitor: RecordVisitor & ~Copyable>(_ visitor: inout Visitor) {
        switch writer {
        case .step(var step):
            visitor.step(&step)
            visitor.attempt(&attempt)
            if Visitor.isReader { writer = .step(step) }
        case .value(var value):
            value.fields(&visitor)
            if Visitor.isReader { writer = .value(value) }
        }
        visitor.field(
            "stream", &stream, "which stream it went to; `output` is both, in the order in which they were written")
        visitor.text("text", &bytes, "whole lines with their line ends; ill-formed UTF-8 is replaced by U+FFFD")
        visitor.field(
            "partial", &isPartial,
            "whether the text stops inside a line: the line is very long, or the output ended there")
    }
}
