internal import CLinux
internal import Glibc

/// The limit on this process' descriptors, and how many of them are for steps.
package enum DescriptorLimit {
    /// The number that a run of one step needs.
    package static let least = 40

    /// The limit that this process was given, which steps get; nil unless it has been raised.
    @EventLoopActor private(set) static var given: rlimit?
    @EventLoopActor private static var allowed = Int.max

    /// Raises the soft limit to the hard one. Returns the number of descriptors allowed now.
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

    /// True if a new descriptor is one of those reserved for the log, requests and the end of steps. The kernel hands
    /// out the lowest free number, so the number tells how many are in use.
    @EventLoopActor
    static func isReserved(_ descriptor: Int32) -> Bool { Int(descriptor) >= allowed - min(24, allowed / 4) }

    /// True if a new descriptor is in the upper half, which is for what steps cannot do without.
    @EventLoopActor
    static func isScarce(_ descriptor: Int32) -> Bool { Int(descriptor) >= allowed / 2 }

    private static var kind: __rlimit_resource_t { __rlimit_resource_t(RLIMIT_NOFILE.rawValue) }
}

/// The resources that the machine has for processes.
package enum Machine {
    /// The number of cores this process may use, at least 1; fewer than the machine has if taskset says so, or if a
    /// container has time for fewer: its quota is rounded up.
    package static var usableCores: Int {
        let cores = Int(clinux_usable_cores())
        return cores == 1 ? 1 : min(cores, processorQuota(own: "/proc/self/cgroup", mounts: "/sys/fs/cgroup") ?? cores)
    }

    /// The number of processors whose time the cgroups around a process allow it; nil if none limits it.
    package static func processorQuota(own: String, mounts: String) -> Int? {
        let quota = Int(clinux_cpu_quota(own, mounts))
        return quota > 0 ? quota : nil
    }
}
