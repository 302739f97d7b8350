/// Bytes that a step, or the command of one of `vars`, has written: whole lines with their ends, unless `isPartial`.
/// The bytes are a loan, valid while the event is reported; copy what is to be kept.
package struct StepOutput {
    package enum Stream: String, Sendable {
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

    package let writer: Writer
    /// Always 1 for one of `vars`.
    package let attempt: Int
    package let stream: Stream
    /// As written, not checked for UTF-8. Joining the events of one stream gives exactly what the step wrote. A piece
    /// that stops inside a line does not stop inside a UTF-8 sequence unless the output ends there, so that each piece
    /// can be repaired by itself.
    package let bytes: UnsafeRawBufferPointer
    /// Whether the bytes stop in the middle of a line: the line is longer than the cap, or the output ended there.
    package let isPartial: Bool

    /// The step that has written; nil for one of `vars`.
    package var step: String? { if case .step(let id) = writer { id } else { nil } }

    package init(step: String, attempt: Int, stream: Stream, bytes: UnsafeRawBufferPointer, isPartial: Bool) {
        self.init(.step(step), attempt: attempt, stream: stream, bytes: bytes, isPartial: isPartial)
    }

    package init(
        _ writer: Writer, attempt: Int = 1, stream: Stream, bytes: UnsafeRawBufferPointer, isPartial: Bool
    ) {
        self.writer = writer
        self.attempt = attempt
        self.stream = stream
        self.bytes = bytes
        self.isPartial = isPartial
    }
}
