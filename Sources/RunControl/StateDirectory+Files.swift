internal import Glibc

extension StateDirectory {
    /// When a file changed last; zero if it does not exist.
    package func lastChange(of name: String) -> Duration {
        var status = stat()
        guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return .zero }
        return .seconds(status.st_mtim.tv_sec) + .nanoseconds(status.st_mtim.tv_nsec)
    }
}
