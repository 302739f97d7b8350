internal import Glibc

/// The system's wall clock, in time since 1970. It jumps when it is set.
package enum WallClock {
    package static var microseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }

    /// The time of the last change of a file in an open folder, or of a link there; nil if there is none.
    package static func lastChange(of name: String, in folder: Int32) -> Duration? {
        var status = stat()
        guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
        return .seconds(status.st_mtim.tv_sec) + .nanoseconds(status.st_mtim.tv_nsec)
    }
}
