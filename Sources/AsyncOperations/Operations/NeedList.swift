/// The dependencies of an operation, in the order in which they were added. Unchecked: the operation's lock guards
/// them.
final class NeedList: @unchecked Sendable {
    private(set) var all: [OperationCore.Need] = []
    /// True if any of them has or had a stand-in.
    private(set) var hasStandIns = false
    /// The index of each dependency, once there are too many for a linear search.
    private var positions: [ObjectIdentifier: Int] = [:]

    private func position(of core: OperationCore) -> Int? {
        if all.count < 16 { return all.firstIndex { $0.core === core } }
        if positions.isEmpty {
            for (position, need) in all.enumerated() { positions[ObjectIdentifier(need.core)] = position }
        }
        return positions[ObjectIdentifier(core)]
    }

    subscript(core: OperationCore) -> OperationCore.Need? { position(of: core).map { all[$0] } }

    /// Adds a dependency, or changes the kind of an existing one unless that carries data.
    func add(_ need: OperationCore.Need) {
        if let position = position(of: need.core) {
            if !all[position].carriesData { all[position].kind = need.kind }
        } else {
            if !positions.isEmpty { positions[ObjectIdentifier(need.core)] = all.count }
            all.append(need)
        }
    }

    /// Removes a dependency that carries no data. O(dependencies).
    func remove(_ core: OperationCore) -> OperationCore.Need? {
        guard let position = position(of: core), !all[position].carriesData else { return nil }
        positions = [:]
        return all.remove(at: position)
    }

    func setStandIn(_ standIn: StandIn?, for core: OperationCore) {
        guard let position = position(of: core) else { return }
        all[position].standIn = standIn
        if standIn != nil { hasStandIns = true }
    }
}

extension OperationCore.State {
    var needs: [OperationCore.Need] { needList?.all ?? [] }

    func need(of other: OperationCore) -> OperationCore.Need? { needList?[other] }

    mutating func add(_ need: OperationCore.Need) {
        let list = needList ?? NeedList()
        needList = list
        list.add(need)
    }
}
