/// One stream of a running step: secrets taken out, then cut into whole lines.
struct StepStream {
    private var mask: SecretMask?
    private var lines = OutputLines()

    /// `mask` is a fresh one; nil if there is nothing to hide.
    init(mask: SecretMask?) { self.mask = mask }

    /// Calls `emit` with what has become known, as `OutputLines` does.
    mutating func append(_ bytes: UnsafeRawBufferPointer, emit: (UnsafeRawBufferPointer, _ isPartial: Bool) -> Void) {
        // Taken out, so that what it emits can be appended meanwhile.
        guard var mask = mask.take() else { return lines.append(bytes, emit: emit) }
        mask.feed(bytes) { lines.append($0, emit: emit) }
        self.mask = mask
    }

    /// What is left at the end.
    mutating func finish(emit: (UnsafeRawBufferPointer, _ isPartial: Bool) -> Void) {
        if var mask = mask.take() { mask.finish { lines.append($0, emit: emit) } }
        lines.finish(emit: emit)
    }
}
