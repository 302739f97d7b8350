/// Tells which signals are new. One that is sent to the process group arrives twice: by itself, and through the guard.
///
/// Of each signal and sender the two ways are counted, and the larger count is how often it was sent. What is sent to the
/// guard alone, or to the runner alone, therefore counts like what is sent to both.
struct SignalTally {
    private struct Kind: Hashable {
        let signal: Int32
        let sender: Int32
    }

    private var counts: [Kind: (direct: Int, forwarded: Int)] = [:]

    /// Counts a signal that has arrived; returns whether it is one more than before. `sender` is 0 for the kernel.
    mutating func isNew(_ signal: Int32, from sender: Int32, isForwarded: Bool) -> Bool {
        var count = counts[Kind(signal: signal, sender: sender)] ?? (0, 0)
        let before = max(count.direct, count.forwarded)
        if isForwarded { count.forwarded += 1 } else { count.direct += 1 }
        counts[Kind(signal: signal, sender: sender)] = count
        return max(count.direct, count.forwarded) > before
    }
}
