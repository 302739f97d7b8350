package import SourceDiagnostics

/// One of `pools`: so many units of something that steps share.
package struct Pool: Sendable {
    package let name: String
    package let size: Int
    package let range: SourceRange

    package init(name: String, size: Int, range: SourceRange) {
        self.name = name
        self.size = size
        self.range = range
    }
}

/// What a step takes from a pool while it runs.
package struct PoolRequest: Sendable, Hashable {
    package let pool: String
    package let units: Int
    package let range: SourceRange

    package init(pool: String, units: Int, range: SourceRange) {
        self.pool = pool
        self.units = units
        self.range = range
    }
}

/// A name that at most one step or group holds at a time.
package struct MutexRequest: Sendable, Hashable {
    package let name: String
    package let range: SourceRange

    package init(name: String, range: SourceRange) {
        self.name = name
        self.range = range
    }
}
