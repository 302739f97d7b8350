internal import Basics
package import Planning
internal import Workflow

/// Something that no two runs of a file have at once: a step, with all its copies, or a lock that steps name.
package struct Claim: Sendable, Hashable {
    package enum Kind: String, Sendable {
        case step, mutex, pool
    }

    package let kind: Kind
    /// For a step its id, or that of the outermost fan-out around it.
    package let name: String

    init(_ kind: Kind, _ name: String) {
        self.kind = kind
        self.name = name
    }

    fileprivate init(_ kind: Kind, _ name: Substring.UTF8View) { self.init(kind, String(name) ?? "") }

    /// The claim as one word of a request, such as `step:build`.
    package var word: String { "\(kind.rawValue):\(name)" }

    /// Returns nil for a text that is no such word.
    package init?(word: String) {
        guard let colon = word.firstIndex(of: ":"), let kind = Kind(rawValue: String(word[..<colon])) else {
            return nil
        }
        self.init(kind, String(word[word.index(after: colon)...]))
    }

    /// The claim in messages: `` `build` ``, or `` mutex `deploy` ``.
    package var described: String { kind == .step ? "`\(name)`" : "\(kind.rawValue) `\(name)`" }

    /// 64 bits by FNV-1a, by which runs compare their claims.
    package var digest: UInt64 { Self.digest(kind, name.utf8[...]) }

    fileprivate static func digest(_ kind: Kind, _ name: Substring.UTF8View) -> UInt64 {
        var hash = FNV1a()
        hash.add(kind.tag)
        for byte in name { hash.add(byte) }
        return hash.value
    }
}

extension Claim.Kind {
    fileprivate var tag: UInt8 {
        switch self {
        case .step: 1
        case .mutex: 2
        case .pool: 3
        }
    }
}

extension Plan {
    /// Everything that a run of this plan claims before its first step, each once, in the order of the file.
    package var claims: [Claim] {
        var seen: Set<Claim> = []
        var claims: [Claim] = []
        forEachClaim { kind, name in
            let claim = Claim(kind, name)
            if seen.insert(claim).inserted { claims.append(claim) }
        }
        return claims
    }

    /// The digests of `claims` as the bytes of numbers, the lowest first. A claim may be in it twice. O(rows).
    package var claimDigests: [UInt8] {
        var bytes: [UInt8] = []
        forEachClaim { kind, name in
            withUnsafeBytes(of: Claim.digest(kind, name).littleEndian) { bytes.append(contentsOf: $0) }
        }
        return bytes
    }

    /// Returns the claims without which a row cannot run: its own, and the locks that it and the groups around it name.
    func claims(around row: PlanIndex) -> Set<Claim> {
        var claims: Set = [Claim(.step, claimName(of: row))]
        // Its copies may not be known yet, and name them later.
        if nodes[row].role == .fanOut {
            forEachLock(inside: nodes[row].definition) { claims.insert(Claim($0, $1)) }
        }
        for next in rowAndAround(row) { claims.formUnion(locks(of: next)) }
        return claims
    }

    /// Returns the locks that a row itself names.
    func locks(of row: PlanIndex) -> Set<Claim> {
        var claims: Set<Claim> = []
        forEachLock(of: row) { claims.insert(Claim($0, $1)) }
        return claims
    }

    /// Returns the name under which a row is claimed: its id up to the copies of a fan-out.
    private func claimName(of row: PlanIndex) -> Substring.UTF8View {
        nodes[row].id.utf8.prefix { $0 != UInt8(ascii: "[") }
    }

    private func forEachClaim(_ body: (Claim.Kind, Substring.UTF8View) -> Void) {
        let hasLocks =
            !workflow.pools.isEmpty || workflow.nodes.contains { $0.settings?.mutexes.isEmpty == false }
        if hasLocks { forEachLock(of: .root, body) }
        var row = PlanIndex.root.next
        while row < rows.upperBound {
            if hasLocks { forEachLock(of: row, body) }
            switch nodes[row].role {
            case .step where !isMilestone(row):
                body(.step, nodes[row].id.utf8[...])
                row = row.next
            case .fanOut:
                // All its copies are one claim, since the run may make more of them.
                body(.step, claimName(of: row))
                if hasLocks { forEachLock(inside: nodes[row].definition, body) }
                row = nodes[row].subtreeEnd
            default: row = row.next
            }
        }
    }

    private func forEachLock(of row: PlanIndex, _ body: (Claim.Kind, Substring.UTF8View) -> Void) {
        for mutex in mutexes(of: row) { body(.mutex, mutex.name.utf8[...]) }
        for pool in pools(of: row) { body(.pool, pool.pool.utf8[...]) }
    }

    private func forEachLock(inside definition: NodeIndex, _ body: (Claim.Kind, Substring.UTF8View) -> Void) {
        for inside in definition.row..<Int(workflow[definition].subtreeEnd) {
            guard let settings = workflow.settings(of: NodeIndex(inside)) else { continue }
            for mutex in settings.mutexes { body(.mutex, mutex.name.utf8[...]) }
            for pool in settings.pools { body(.pool, pool.pool.utf8[...]) }
        }
    }
}
