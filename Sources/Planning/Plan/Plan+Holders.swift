internal import Workflow

extension Plan {
    /// A mutex that a group takes when it starts.
    package struct TakenMutex: Sendable, Hashable {
        package let name: String
        /// The rows inside that name it; empty where only the group itself does.
        package let users: [PlanIndex]
    }

    /// What a group takes at its start, its own names first, then those of what is inside; nothing for one that names
    /// no mutex, and nothing that a group around it holds for all its members. O(rows inside).
    package func takenMutexes(by group: PlanIndex) -> [TakenMutex] {
        guard nodes[group].role == .group else { return [] }
        let own = mutexNames(of: group)
        guard !own.isEmpty else { return [] }
        var names = own
        var users: [String: [PlanIndex]] = [:]
        for row in rows(inside: group) {
            for name in mutexNames(of: row) {
                if users[name] == nil, !own.contains(name) { names.append(name) }
                users[name, default: []].append(row)
            }
        }
        return names.filter { !isCovered($0, for: group) }.map { TakenMutex(name: $0, users: users[$0] ?? []) }
    }

    /// Each once.
    private func mutexNames(of row: PlanIndex) -> [String] {
        var names: [String] = []
        for mutex in mutexes(of: row) where !names.contains(mutex.name) { names.append(mutex.name) }
        return names
    }

    private func isCovered(_ name: String, for row: PlanIndex) -> Bool {
        var row = row
        while row != .root {
            row = nodes[row].parent
            if mutexNames(of: row).contains(name) { return true }
        }
        return false
    }
}
