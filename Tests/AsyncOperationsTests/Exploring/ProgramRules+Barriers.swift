import AsyncOperations

// What barriers keep apart.

extension ProgramRules {
    /// A barrier begins after the end of what was added before it, and what was added after it begins after its end.
    var barriersHold: String? {
        // Removing a dependency may remove one that a barrier made.
        if events.contains(where: { if case .needRemoved = $0 { true } else { false } }) { return nil }
        var asked: [Int: Int] = [:]
        var taken: [Int: (place: Int, queue: Int)] = [:]
        for (place, event) in events.enumerated() {
            switch event {
            case .adding(let index): asked[index] = asked[index] ?? place
            case .taken(let index, let queue?): taken[index] = (place, queue)
            default: break
            }
        }
        for case .taken(let barrier, let queue?) in events where isBarrier(barrier, in: queue) {
            for (other, added) in taken where other != barrier && added.queue == queue {
                guard let barrierAsked = asked[barrier], let barrierAdded = taken[barrier] else { continue }
                if added.place < barrierAsked, let problem = overlap(barrier, after: other) { return problem }
                if let otherAsked = asked[other], otherAsked > barrierAdded.place,
                    let problem = overlap(other, after: barrier)
                {
                    return problem
                }
            }
        }
        return nil
    }

    /// Whether it can have come into the queue as a barrier only.
    private func isBarrier(_ index: Int, in queue: Int) -> Bool {
        program.actions.contains(.addBarrier(index, queue: queue))
            && !program.actions.contains(.add(index, queue: queue))
    }

    private func overlap(_ later: Int, after earlier: Int) -> String? {
        guard let end = ends[earlier] else { return nil }
        for (index, places) in entries where isInside(index, later) {
            if let entry = places.first, entry < end.place {
                return "o\(index) began before o\(earlier), which a barrier separates from it, had ended"
            }
        }
        return nil
    }
}
