package import Testing

/// What may run at once, and who holds which lock meanwhile (rules I6 and I7 of Flowrun.docc/EventLog): held against
/// the log of a run with `--verbose`.
package struct ResourceRules: Sendable {
    /// How many steps may run at once in the whole run.
    package var jobs: Int
    /// By the full id of a group, `` for the run: how many steps inside may run at once.
    package var stepLimits: [String: Int] = [:]
    /// By the full id of a fan-out: how many of its instances may be in progress at once.
    package var instanceLimits: [String: Int] = [:]
    /// Units of each pool by name; what is not named is a mutex, with one.
    package var pools: [String: Int] = [:]
    /// By the full id of a step or group: the units of each lock that the file asks for there. What a group takes for
    /// the sake of its members follows from that: see Flowrun.docc/Locks.
    package var requests: [String: [String: Int]] = [:]

    package init(jobs: Int) { self.jobs = jobs }

    /// Records an issue for each rule that a log breaks.
    package func check(_ log: EventLog, sourceLocation: SourceLocation = #_sourceLocation) {
        let found = violations(log)
        guard !found.isEmpty else { return }
        Issue.record("the log breaks its rules:\n\(found.joined(separator: "\n"))", sourceLocation: sourceLocation)
    }

    /// A sentence for each rule that a log breaks; empty where it keeps them all.
    package func violations(_ log: EventLog) -> [String] {
        var state = State(rules: self, groups: Set(log.records.compactMap(\.group)))
        for record in log.records { state.note(record) }
        return state.found
    }

    private struct State {
        let rules: ResourceRules
        private let groups: Set<String>
        var found: [String] = []
        /// Steps and groups between their start and their end, or the wait for another attempt.
        private var runningSteps: Set<String> = []
        private var runningGroups: Set<String> = []
        private var openAttempts: Set<String> = []
        private var ready: Set<String> = []
        private var held: [ScopedLock: [String: Int]] = [:]
        private var wantedById: [String: [ScopedLock: Int]] = [:]

        init(rules: ResourceRules, groups: Set<String>) {
            self.rules = rules
            self.groups = groups
        }

        mutating func note(_ record: EventLog.Record) {
            let id = record.step ?? record.group ?? ""
            switch record.event {
            case "step.ready", "group.ready":
                ready.insert(id)
            case "step.started":
                runningSteps.insert(id)
                openAttempts.insert(id)
                requireLocks(of: id, record)
                requireRoom(for: id, record)
            case "group.started":
                runningGroups.insert(id)
                requireLocks(of: id, record)
                requireRoom(for: id, record)
            case "step.attempt":
                openAttempts.remove(id)
            case "step.retry", "step.finished":
                runningSteps.remove(id)
                requireNothingHeld(by: id, record)
            case "group.retry", "group.finished":
                runningGroups.remove(id)
                requireNothingHeld(by: id, record)
            case "lock.acquired": acquire(record["name"]?.string ?? "", by: id, record)
            case "lock.released": release(record["name"]?.string ?? "", by: id, record)
            case "run.finished":
                for (lock, holders) in held.sorted(by: { $0.key.name < $1.key.name }) where !holders.isEmpty {
                    found.append("I7: \(holders.keys.sorted()) hold `\(lock.name)` at the end of the run")
                }
            default: break
            }
        }

        // MARK: - Limits

        private mutating func requireRoom(for id: String, _ record: EventLog.Record) {
            if runningSteps.count > rules.jobs {
                found.append("I6: \(runningSteps.count) steps run at seq \(record.seq), and \(rules.jobs) may")
            }
            for (group, limit) in rules.stepLimits where group.isEmpty || EventLog.isInside(id, group) {
                let count = runningSteps.count { group.isEmpty || EventLog.isInside($0, group) }
                if count > limit {
                    found.append("I6: \(count) steps of `\(group)` run at seq \(record.seq), and \(limit) may")
                }
            }
            for (fanOut, limit) in rules.instanceLimits where Self.isInstance(id, of: fanOut) {
                let count = runningSteps.union(runningGroups).count { Self.isInstance($0, of: fanOut) }
                if count > limit {
                    let seq = record.seq
                    found.append("I6: \(count) instances of \(fanOut) are in progress at seq \(seq), and \(limit) may")
                }
            }
        }

        private static func isInstance(_ id: String, of fanOut: String) -> Bool {
            id.hasPrefix(fanOut + "[") && id.dropFirst(fanOut.count).firstIndex(of: "]") == id.indices.last
        }

        // MARK: - Locks

        /// A lock among those who share it: everybody, or what is inside the group `scope`, which has taken it for
        /// them.
        private struct ScopedLock: Hashable {
            let name: String
            let scope: String?
        }

        /// What a step or group takes when it starts.
        private mutating func wanted(by id: String) -> [ScopedLock: Int] {
            if let known = wantedById[id] { return known }
            var names = rules.requests[id] ?? [:]
            if isHolder(id) {
                for mutex in mutexes(inside: id) { names[mutex] = 1 }
            }
            let around = rules.requests.keys.filter { EventLog.isInside(id, $0) && isHolder($0) }
                .sorted { $0.utf8.count > $1.utf8.count }
            var wanted: [ScopedLock: Int] = [:]
            for (name, units) in names {
                if !isMutex(name) {
                    wanted[ScopedLock(name: name, scope: nil)] = units
                } else if !around.contains(where: { rules.requests[$0]?[name] != nil }) {
                    let scope = around.first { mutexes(inside: $0).contains(name) }
                    wanted[ScopedLock(name: name, scope: scope)] = units
                }
            }
            wantedById[id] = wanted
            return wanted
        }

        private func isMutex(_ name: String) -> Bool { rules.pools[name] == nil }

        private func isHolder(_ id: String) -> Bool {
            groups.contains(id) && rules.requests[id]?.keys.contains(where: isMutex) == true
        }

        private func mutexes(inside group: String) -> Set<String> {
            var names: Set<String> = []
            for (id, requests) in rules.requests where EventLog.isInside(id, group) {
                names.formUnion(requests.keys.filter(isMutex))
            }
            return names
        }

        private mutating func acquire(_ name: String, by id: String, _ record: EventLog.Record) {
            guard let (lock, units) = wanted(by: id).first(where: { $0.key.name == name }) else {
                found.append("I7: \(id) takes `\(name)` at seq \(record.seq) and never asked for it")
                return
            }
            if !ready.contains(id) {
                found.append("I7: \(id) takes `\(name)` at seq \(record.seq), before it is ready")
            }
            if held[lock]?[id] != nil { found.append("I7: \(id) takes `\(name)` twice, at seq \(record.seq)") }
            held[lock, default: [:]][id] = units
            let taken = held[lock, default: [:]].values.reduce(0, +)
            if taken > rules.pools[name] ?? 1 {
                let holders = held[lock, default: [:]].keys.sorted()
                found.append("I7: \(holders) hold \(taken) units of `\(name)` at seq \(record.seq)")
            }
        }

        private mutating func release(_ name: String, by id: String, _ record: EventLog.Record) {
            let lock = wanted(by: id).keys.first { $0.name == name }
            if lock.flatMap({ held[$0]?.removeValue(forKey: id) }) == nil {
                found.append("I7: \(id) lets `\(name)` go at seq \(record.seq) and does not hold it")
            }
            if openAttempts.contains(id) {
                found.append("I7: \(id) lets `\(name)` go at seq \(record.seq), before its attempt has ended")
            }
            let inside = openAttempts.filter { EventLog.isInside($0, id) }
            if record.group != nil, !inside.isEmpty {
                found.append("I7: \(id) lets `\(name)` go at seq \(record.seq), while \(inside.sorted()) run")
            }
        }

        private mutating func requireLocks(of id: String, _ record: EventLog.Record) {
            for (lock, units) in wanted(by: id) where held[lock]?[id] != units {
                found.append("I7: \(id) starts at seq \(record.seq) without `\(lock.name)`")
            }
        }

        private mutating func requireNothingHeld(by id: String, _ record: EventLog.Record) {
            for (lock, holders) in held where holders[id] != nil {
                found.append("I7: \(id) holds `\(lock.name)` after its end at seq \(record.seq)")
            }
            ready.remove(id)
        }
    }
}
