import Glibc

/// How much a proof looks at: more where an environment variable says so.
struct Effort: Sendable {
    let count: Int
    /// The environment variable is there.
    let isAsked: Bool
    /// The number of the first program.
    let seed: UInt64

    init(_ variable: String, otherwise count: Int) {
        let asked = Self.number(variable)
        isAsked = asked != nil
        self.count = asked ?? count
        seed = UInt64(Self.number("FLOWRUN_PROOF_SEED") ?? 0)
    }

    private static func number(_ variable: String) -> Int? { getenv(variable).flatMap { Int(String(cString: $0)) } }
}
