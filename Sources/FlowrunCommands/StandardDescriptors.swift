internal import Glibc

/// Descriptors 0, 1 and 2, which whoever started flowrun may have closed.
enum StandardDescriptors {
    /// Keeps their numbers from being given to a pipe or an epoll set. What stands in for a closed one cannot be written
    /// to, so that a log without a reader is still an error.
    static func keep() {
        for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
            // The lowest free number, which is this one.
            _ = open("/dev/null", O_RDONLY)
        }
    }
}
