// Errands: work that belongs to no operation and counts against the width all the same.
//
// An errand holds nothing but its slot and waits for nothing once it has it, so no wait leads through one: whoever waits
// for a slot waits for work that ends by itself.

/// A piece of work outside of the graph that counts as one operation of the width. Numbers are the caller's, each used
/// once.
package struct Errand: Hashable, Sendable {
    package let number: Int

    package init(_ number: Int) { self.number = number }
}

/// Which errands there are.
struct Errands: Sendable {
    /// Those without a slot, oldest first.
    var waiting: [Errand] = []
    /// Those with one.
    var started: Set<Errand> = []
}

extension OperationScheduler {
    /// Gives free slots to errands, oldest first and before any operation: something that could have started waits for
    /// each of them.
    mutating func startErrands() {
        guard !errands.waiting.isEmpty, !clocks.isSuspended, running < width else { return }
        let count = min(width - running, errands.waiting.count)
        for errand in errands.waiting.prefix(count) {
            occupy(errand)
            commands.append(.startErrand(errand))
        }
        errands.waiting.removeFirst(count)
    }

    /// Counts an errand that goes on without the slot of the operation in whose place it has run.
    mutating func occupy(_ errand: Errand) {
        let isNew = errands.started.insert(errand).inserted
        precondition(isNew, "errand \(errand.number) has a slot already")
        running += 1
    }

    /// Ends an errand, or its wait.
    mutating func end(_ errand: Errand) {
        if errands.started.remove(errand) != nil {
            running -= 1
        } else {
            errands.waiting.removeAll { $0 == errand }
        }
    }
}
