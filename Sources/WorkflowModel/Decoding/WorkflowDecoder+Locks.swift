internal import SourceDiagnostics
internal import YAMLSyntax

// Which pools there are and what takes which lock; whether the pools that steps ask for exist is the planner's question.
extension WorkflowDecoder {
    /// `pools`: names to sizes.
    mutating func pools(_ entry: MappingReader.Entry?) -> [Pool] {
        guard let entry else { return [] }
        guard entry.value.kind == .mapping else {
            reportType(entry, expected: "a mapping of names to sizes such as `{ emulator: 2 }`")
            return []
        }
        var pools: [Pool] = []
        for (key, value) in entry.value.entries where checkName(key, of: "a pool") {
            // A pool of an unreadable size is there all the same, as large as can be.
            let size = count(MappingReader.Entry(key: key, value: value))
            pools.append(Pool(name: key.text, size: size ?? .max, range: key.range))
        }
        return pools
    }

    /// `pool`: names with so many units each, or a name or a list of names for one unit of each.
    mutating func poolRequests(_ entry: MappingReader.Entry?) -> [PoolRequest] {
        guard let entry else { return [] }
        guard entry.value.kind == .mapping else {
            let names = items(entry, expected: "a pool's name, a list of names, or `{ name: units }`", mayBeAlone: true)
            return names.compactMap { node in
                guard checkName(node, of: "a pool") else { return nil }
                return PoolRequest(pool: node.text, units: 1, range: node.range)
            }
        }
        var requests: [PoolRequest] = []
        for (key, value) in entry.value.entries where checkName(key, of: "a pool") {
            guard let units = count(MappingReader.Entry(key: key, value: value)) else { continue }
            requests.append(PoolRequest(pool: key.text, units: units, range: key.range))
        }
        return requests
    }

    /// `mutex`: a name or a list of names.
    mutating func mutexRequests(_ entry: MappingReader.Entry?) -> [MutexRequest] {
        guard let entry else { return [] }
        return items(entry, expected: "a name or a list of names", mayBeAlone: true).compactMap { node in
            guard checkName(node, of: "a mutex") else { return nil }
            return MutexRequest(name: node.text, range: node.range)
        }
    }
}
