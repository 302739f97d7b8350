package import Basics

/// Bytes written by a step, or by the command of one of `vars`: whole lines with their ends, unless `isPartial`. The
/// bytes are borrowed and valid only while the event is reported; copy them to keep them.
package struct StepOutput {
    package enum Stream: String, RecordWord, Sendable {
        /// Standard output and standard error through one pipe, in the order in which they were written.
        case output
        /// The two streams apart, each through its own pipe.
        case stdout, stderr
    }

    package enum Writer: Sendable, Hashable {
        case step(String)
        case value(ValueID)

        /// The name shown to users.
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
    /// As written, not checked for UTF-8. The joined events of one stream are exactly what the step wrote. A piece
    /// that ends inside a line does not end inside a UTF-8 sequence, unless the output ends there, so each piece can
    /// be repaired on its own.
    package var bytes: UnsafeRawBufferPointer
    /// True if the bytes end in the middle of a line: the line is longer than the cap, or the output ended there.
    package var isPartial: Bool

    /// The step that wrote the bytes; nil for one of `vars`.
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

/// The way a step's output is shown, as the file says; what is recorded does not depend on it.
package enum OutputView: String, RecordWord, Sendable, Hashable {
    /// Each line as it comes.
    case live
    /// As one block when the step ends.
    case grouped
    /// Only if the step does not succeed.
    case quiet
}

/// The places at which the output of steps is kept.
package protocol OutputPlaces: AnyObject {
    /// Returns the path, as shown to users, of the file with the whole output of the last attempt of a step that has
    /// ended; nil if the output was too short for a file of its own, too long to be kept whole, or not kept.
    func file(ofStep step: String) -> String?

    /// The place at which the bytes of the last event can be read again; nil if it was no output, or its bytes are in
    /// no file.
    var lastPlace: OutputPlace? { get }
}

/// The start of an event's bytes in a file; the event has their number.
package struct OutputPlace {
    package let file: any OutputSource
    package let offset: Int

    package init(file: any OutputSource, offset: Int) {
        self.file = file
        self.offset = offset
    }
}

/// A file with output of steps. It stays readable as long as this value exists, even if its name is removed.
package protocol OutputSource: AnyObject {
    /// Fills the buffer with the bytes at an offset. Returns their number, which is less than the buffer's size only
    /// at the end of the file.
    func read(into buffer: UnsafeMutableRawBufferPointer, from offset: Int) throws(SystemError) -> Int
}
