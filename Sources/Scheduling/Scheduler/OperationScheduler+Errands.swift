// An errand is work outside of the graph that takes a slot like an operation, such as the command of one of `vars`.
//
// An errand holds nothing but its slot and waits for nothing once it has it, so no cycle of waits leads through one: an
// operation that waits for a slot waits for work that ends by itself.

/// Work outside of the graph that counts as one operation of the width. The caller makes up the numbers, and uses each
/// once.
package struct Errand: Hashable, Sendable {
    package let number: Int

    package init(_ number: Int) { self.number = number }
}

/// The errands that wait or run.
struct Errands: Sendable {
    /// Errands without a slot, oldest first.
    var waiting: [Errand] = []
    /// Errands with a slot.
    var started: Set<Errand> = []
}

extension OperationScheduler {
    /// Gives free slots to errands, oldest first and before any operation: for each of them an operation waits that
    /// could have started.
    mutating func startErrands() {
        guard !errands.waiting.isEmpty, !clocks.isSuspended, running < width else { return }
        let count = min(width - running, errands.waiting.count)
        for errand in errands.waiting.prefix(count) {
            occupy(errand)
            commands.append(.startErrand(errand))
        }
        errands.waiting.removeFirst(count)
    }

    /// Counts an errand that goes on without the slot of the operation that lent it.
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
