import AsyncOperations

// What may run beside what, and when it may begin.

extension ProgramRules {
    /// Walks through the events with the set of bodies that run.
    private func walk(_ visit: (_ place: Int, _ event: ProgramRecord.Event, _ running: Set<Int>) -> String?) -> String?
    {
        var running: Set<Int> = []
        for (place, event) in events.enumerated() {
            switch event {
            case .entered(let index, _, _):
                if !running.insert(index).inserted { return "o\(index) was entered while it ran" }
            case .left(let index, _): running.remove(index)
            default: break
            }
            if let problem = visit(place, event, running) { return problem }
        }
        return nil
    }

    private var queueOf: [Int: Int] {
        var queues: [Int: Int] = [:]
        for case .taken(let index, let queue?) in events { queues[index] = queue }
        return queues
    }

    private func queue(of index: Int, _ queues: [Int: Int]) -> Int? {
        around(index).lazy.compactMap { queues[$0] }.first
    }

    /// What of a compound operation is in progress: its direct members in which something runs.
    private func membersRunning(_ compound: Int, _ running: Set<Int>) -> Set<Int> {
        Set(
            running.compactMap { index in
                let around = self.around(index)
                guard let place = around.firstIndex(of: compound), place > 0 else { return nil }
                return around[place - 1]
            })
    }

    var limitsAreKept: String? {
        let queues = queueOf
        var widths = program.queues.map(\.width)
        for case .setWidth(let queue, let width) in program.actions { widths[queue] = max(widths[queue], width) }
        return walk { _, event, running in
            guard case .entered(let index, _, _) = event else { return nil }
            if let queue = queue(of: index, queues) {
                let beside = running.filter { self.queue(of: $0, queues) == queue }
                if beside.count > widths[queue] { return "\(names(beside)) run at once in q\(queue)" }
            }
            for compound in around(index).dropFirst() {
                guard case .compound(let mode, _) = program.operations[compound].kind else { continue }
                let limit =
                    switch mode {
                    case .serial: 1
                    case .limited(let count): count
                    case .concurrent: Int.max
                    }
                let members = membersRunning(compound, running)
                if members.count > limit { return "\(names(members)) run at once in o\(compound)" }
            }
            return nil
        }
    }

    /// Members that were listed before the start, need nothing and are not tried again go one after the other.
    var serialIsInOrder: String? {
        for (compound, operation) in program.operations.enumerated() {
            guard case .compound(.serial, _) = operation.kind else { continue }
            // Not those that could not join because they would have closed a ring.
            let members = program.members(of: compound).filter { isInside($0, compound) }
            // What joined later counts, too.
            let inside = program.operations.indices.filter { $0 != compound && isInside($0, compound) }
            let isPlain = inside.allSatisfy { index in
                let operation = program.operations[index]
                return operation.needs.isEmpty && operation.input == nil && operation.attempts == 1
                    && operation.priority == 0 && operation.mutex == nil && operation.units.isEmpty
            }
            let isSteered = program.actions.contains {
                if case .addDependency = $0 { true } else { false }
            }
            guard isPlain, !isSteered, rounds(compound) == 1 else { continue }
            var earlier: [Int] = []
            for member in members {
                if let begin = begin(of: member) {
                    if let late = earlier.first(where: { (ends[$0]?.place ?? 0) > begin }) {
                        return "o\(member) began before o\(late), which stands before it in o\(compound), had ended"
                    }
                }
                earlier.append(member)
            }
        }
        return nil
    }

    private func begin(of member: Int) -> Int? {
        entries.filter { isInside($0.key, member) }.compactMap(\.value.first).min()
    }

    var mutexesExclude: String? {
        let queues = queueOf
        return walk { _, event, running in
            guard case .entered(let index, _, _) = event, let queue = queue(of: index, queues) else { return nil }
            for holder in around(index) {
                guard let mutex = program.operations[holder].mutex else { continue }
                for other in running where !isInside(other, holder) && self.queue(of: other, queues) == queue {
                    if around(other).contains(where: { program.operations[$0].mutex == mutex }) {
                        return "o\(index) and o\(other) run at once with mutex \(mutex)"
                    }
                }
            }
            return nil
        }
    }

    /// Whatever queues they are in.
    var poolsAreKept: String? {
        walk { _, event, running in
            guard case .entered(let index, _, _) = event else { return nil }
            for pool in program.operations[index].units.keys {
                let taken = Set(running).union([index]).reduce(0) { $0 + (program.operations[$1].units[pool] ?? 0) }
                if taken > Program.pools[pool] { return "\(taken) units of p\(pool) are taken when o\(index) begins" }
            }
            return nil
        }
    }

    /// Nothing begins between the return of `suspend` and the call of `resume` but what ran already.
    var suspensionHolds: String? {
        let queues = queueOf
        var begun: [Int: Int] = [:]
        var returned: [Int: Int] = [:]
        /// The resumes that had begun when a call of `suspend` began, where all of them had returned.
        var resumesBefore: [UInt64: Int] = [:]
        /// What may go on in a queue that is certainly suspended.
        var allowed: [Int: Set<Int>] = [:]
        for event in events {
            switch event {
            case .suspending(let queue, let call):
                if begun[queue, default: 0] == returned[queue, default: 0] {
                    resumesBefore[call] = begun[queue, default: 0]
                }
            case .suspended(let queue, let call, let running):
                if resumesBefore[call] == begun[queue, default: 0] { allowed[queue] = allowed[queue] ?? running }
            case .resuming(let queue):
                begun[queue, default: 0] += 1
                allowed[queue] = nil
            case .resumed(let queue): returned[queue, default: 0] += 1
            case .left(let index, _):
                if let queue = queue(of: index, queues) { allowed[queue]?.remove(index) }
            case .entered(let index, _, _):
                guard let queue = queue(of: index, queues), allowed[queue]?.contains(index) == false else { continue }
                return "o\(index) began while q\(queue) was suspended"
            default: break
            }
        }
        return nil
    }

    var cancelHolds: String? {
        for (place, event) in events.enumerated() {
            guard case .cancelled(let index, let state) = event, !program.operations[index].isCompound else { continue }
            if let end = ends[index], end.outcome != .cancelled {
                return "o\(index) is \(end.outcome) though a cancel was accepted"
            }
            if state != .executing, let entry = entries[index]?.last, entry > place {
                return "o\(index) began after a cancel was accepted"
            }
        }
        return nil
    }

    private func names(_ indices: some Collection<Int>) -> String {
        indices.sorted().map { "o\($0)" }.joined(separator: ", ")
    }
}
