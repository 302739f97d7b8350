internal import Processes
internal import RunLog

/// The output of one attempt: masked and cut into lines for the log, its end kept for the summary of errors, and all
/// of standard output if something reads it.
struct AttemptOutput {
    /// Receives lines for the log. The bytes are valid during the call.
    typealias Sink = (_ bytes: UnsafeRawBufferPointer, _ isPartial: Bool, _ stream: StepOutput.Stream) -> Void

    private(set) var byteCount = 0
    private(set) var tail = OutputTail()
    /// Standard output; nil if nothing reads it.
    private(set) var captured: CapturedOutput?
    private var output: StepStream
    /// nil until something is written to it.
    private var error: StepStream?
    private let mask: SecretMask?
    /// True if standard output has a pipe of its own.
    private var isSeparate = false

    /// `mask` hides secrets; nil if there are none.
    init(mask: SecretMask?, capturing captured: CapturedOutput? = nil) {
        self.mask = mask
        output = StepStream(mask: mask)
        self.captured = captured
    }

    /// Returns false once, when standard output exceeds what can be kept.
    mutating func append(_ bytes: UnsafeRawBufferPointer, to stream: OutputStream, _ sink: Sink) -> Bool {
        byteCount += bytes.count
        guard stream != .standardError else {
            // Taken out, so that changing it does not copy it.
            var error = error.take() ?? StepStream(mask: mask)
            Self.append(bytes, to: &error, &tail) { sink($0, $1, .stderr) }
            self.error = error
            return true
        }
        isSeparate = stream == .standardOutput
        let isKept = captured?.append(bytes) ?? true
        let name = outputName
        Self.append(bytes, to: &output, &tail) { sink($0, $1, name) }
        return isKept
    }

    /// Returns the end of the line that a stream has begun and not ended.
    func unfinishedLine(of stream: OutputStream) -> [UInt8] {
        (stream == .standardError ? error?.unfinished : output.unfinished) ?? []
    }

    /// Hands over what is left at the end.
    mutating func finish(_ sink: Sink) {
        let name = outputName
        Self.finish(&output, &tail) { sink($0, $1, name) }
        if var error = error.take() { Self.finish(&error, &tail) { sink($0, $1, .stderr) } }
    }

    /// Takes the standard output of an earlier run in place of that of a process.
    mutating func restore(_ bytes: [UInt8]) { captured = captured.map { CapturedOutput(bytes, limit: $0.limit) } }

    private var outputName: StepOutput.Stream { isSeparate ? .stdout : .output }

    private static func append(
        _ bytes: UnsafeRawBufferPointer, to stream: inout StepStream, _ tail: inout OutputTail,
        _ sink: (UnsafeRawBufferPointer, _ isPartial: Bool) -> Void
    ) {
        stream.append(bytes) { lines, isPartial in
            tail.append(lines)
            sink(lines, isPartial)
        }
    }

    private static func finish(
        _ stream: inout StepStream, _ tail: inout OutputTail,
        _ sink: (UnsafeRawBufferPointer, _ isPartial: Bool) -> Void
    ) {
        stream.finish { lines, isPartial in
            tail.append(lines)
            sink(lines, isPartial)
        }
    }
}

/// The standard output of a process, kept whole for expressions and outputs.
struct CapturedOutput {
    private(set) var bytes: [UInt8]
    /// True if there was more than can be kept; then nothing is.
    private(set) var isOverfull = false
    /// The largest size in bytes.
    let limit: Int
    /// The limit of what a step writes for others.
    private static let stepLimit = 64 << 20

    init(_ bytes: [UInt8] = [], limit: Int = stepLimit) {
        self.bytes = bytes
        self.limit = limit
    }

    /// Returns false once, when the limit is exceeded.
    mutating func append(_ new: UnsafeRawBufferPointer) -> Bool {
        guard !isOverfull else { return true }
        guard bytes.count + new.count > limit else {
            bytes.append(contentsOf: new)
            return true
        }
        isOverfull = true
        bytes = []
        return false
    }
}
