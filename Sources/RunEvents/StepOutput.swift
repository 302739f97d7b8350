/// Bytes that a step, or the command of one of `vars`, has written: whole lines with their ends, unless `isPartial`. A loan: the bytes are valid while the
/// event is reported, and whoever keeps them copies them.
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

        /// As people are shown it.
        package var words: String {
            switch self {
            case .step(let id): id
            case .value(let value): value.words
            }
        }
    }

    package let writer: Writer
    /// 1 for one of `vars`.
    package let attempt: Int
    package let stream: Stream
    /// As written, not checked for UTF-8. Joining the events of one stream gives exactly what the step wrote. A piece
    /// that stops inside a line does not stop inside a UTF-8 sequence unless the output ends there, so that each piece
    /// can be repaired by itself.
    package let bytes: UnsafeRawBufferPointer
    /// Whether the bytes stop in the middle of a line: the line is longer than the cap, or the output ended there.
    package let isPartial: Bool

    /// nil where it is no step that has written.
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
