internal import Glibc

/// The system's wall clock, since 1970. It jumps when it is set.
package enum WallClock {
    package static var now: Duration {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return duration(time)
    }

    /// When a file in an open folder, or a link there, changed last; nil if there is none.
    package static func lastChange(of name: String, in folder: Int32) -> Duration? {
        var status = stat()
        guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
        return duration(status.st_mtim)
    }

    private static func duration(_ time: timespec) -> Duration { .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec) }
}
