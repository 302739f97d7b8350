internal import Glibc

/// How many descriptors this process may have, and how many of them are for steps.
package enum DescriptorLimit {
    /// What a run needs that has one step.
    package static let least = 40

    /// What this process was given, which is what steps get; nil before it was raised.
    @EventLoopActor private(set) static var given: rlimit?
    @EventLoopActor private static var allowed = Int.max

    /// Raises the soft limit to the hard one. Returns how many descriptors are allowed now.
    @EventLoopActor
    package static func raise() -> Int {
        var limit = rlimit()
        guard getrlimit(kind, &limit) == 0 else { return .max }
        if limit.rlim_cur < limit.rlim_max {
            var raised = rlimit(rlim_cur: limit.rlim_max, rlim_max: limit.rlim_max)
            if setrlimit(kind, &raised) == 0 {
                given = limit
                limit = raised
            }
        }
        allowed = Int(clamping: limit.rlim_cur)
        return allowed
    }

    /// Whether a new descriptor is one of those that are kept for the log, requests and the end of steps. The kernel hands
    /// out the lowest number that is free, so that the number tells how many there are.
    @EventLoopActor
    static func isReserved(_ descriptor: Int32) -> Bool { Int(descriptor) >= allowed - min(24, allowed / 4) }

    /// Whether a new descriptor is one of the upper half, which is for what steps cannot do without.
    @EventLoopActor
    static func isScarce(_ descriptor: Int32) -> Bool { Int(descriptor) >= allowed / 2 }

    private static var kind: __rlimit_resource_t { __rlimit_resource_t(RLIMIT_NOFILE.rawValue) }
}
