import Planning

extension Plan {
    /// The row with this id.
    func row(_ id: String) -> PlanIndex? { rows.first { nodes[$0].id == id } }

    /// The ids of what a row waits for.
    func needs(of id: String) -> [String]? { row(id).map { edges(of: $0).map { nodes[$0.target].id } } }

    func level(of id: String) -> Int? { row(id).map { Int(nodes[$0].level) } }

    /// Ids of everything but the workflow itself.
    var ids: [String] { nodes.dropFirst().map(\.id) }

    var criticalIDs: [String] { criticalPath().map { nodes[$0].id } }
}
