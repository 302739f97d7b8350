internal import Basics
internal import Planning
internal import Workflow

// Needs of steps and groups as a part of the definitions of steps. Made when a step starts, so that all copies that it
// may need are known.
extension CommandBuilder {
    /// The start of the digests of all steps in a group: the needs of the group and of the enclosing ones. Made once a
    /// group.
    func needsHash(inside group: PlanIndex, _ key: KeyedHash.Key) -> KeyedHash {
        if group == .root { return KeyedHash(key: key) }
        if let known = needs[group] { return known }
        var hash = needsHash(inside: plan.parent(of: group), key)
        appendNeeds(of: group, to: &hash)
        needs[group] = hash
        return hash
    }

    /// Appends a row's own needs, in any order: their kinds, whether a condition decides, and what that reads. The
    /// value of the condition is not part of it, since each run asks again.
    func appendNeeds(of row: PlanIndex, to hash: inout KeyedHash) {
        let edges = plan.edges(of: row)
        hash.append(edges.count)
        if edges.count == 1 { append(edges[edges.startIndex], to: &hash) } else { appendSum(of: edges, to: &hash) }
        hash.append(plan.waitsForAll(row) ? 1 : 0)
        let reads = plan.condition(of: row)?.references.filter { $0.root == "steps" || $0.root == "previous" } ?? []
        let names = reads.isEmpty ? [] : Set(reads.map { "\($0.root).\($0.field ?? "")" }).sorted()
        hash.append(names.count)
        for name in names { hash.append(name) }
    }

    /// Each edge is hashed once, however many rows have it; the sum does not depend on their order.
    private func appendSum(of edges: ArraySlice<PlanEdge>, to hash: inout KeyedHash) {
        guard !edges.isEmpty, let key = options.definitionKey else { return }
        var (first, second): (UInt64, UInt64) = (0, 0)
        for edge in edges {
            let place = edge.target.offset << 2 | Int(edge.kind.rawValue)
            let known = self.edges[place]
            var words = known ?? (0, 0)
            if known == nil {
                var hash = KeyedHash(key: key)
                append(edge, to: &hash)
                words = hash.finishWords()
                self.edges[place] = words
            }
            first &+= words.0
            second &+= words.1
        }
        hash.append(Int(bitPattern: UInt(first)))
        hash.append(Int(bitPattern: UInt(second)))
    }

    private func append(_ edge: PlanEdge, to hash: inout KeyedHash) {
        hash.append(plan.nodes[edge.target].id)
        hash.append(edge.kind.rawValue)
        if plan.nodes[edge.target].role != .step { hash.append(digest(ofContentsOf: edge.target)) }
    }

    /// A digest of the ids of the steps in a group, in any order, but with copies in the order of what they hand on.
    private func digest(ofContentsOf group: PlanIndex) -> String {
        guard let key = options.definitionKey else { return "" }
        if let known = contents[group] { return known }
        var hash = KeyedHash(key: key)
        let parts = plan.nodes[group].role == .fanOut ? plan.members(of: group) : [group]
        for part in parts {
            let rows = plan.isStep(part) ? [part] : plan.rows(inside: part)
            let steps = rows.filter { plan.isStep($0) && !plan.isInHook($0) }
            for id in steps.map({ plan.nodes[$0].id }).sorted() { hash.append(id) }
        }
        let digest = hash.finish()
        contents[group] = digest
        return digest
    }
}
