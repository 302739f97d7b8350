internal import Glibc
internal import RunEvents

/// Writes records to a file descriptor, each with one `write(2)` unless the kernel takes only a part of it.
///
/// The first error ends it: later records are let go, the run goes on, and `failure` tells at the end. The descriptor
/// stays the caller's. SIGPIPE has to be ignored by the program.
package final class DescriptorSink: RecordSink {
    private let descriptor: Int32
    /// The error number of the first failed write.
    package private(set) var failure: Int32?

    package init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    package func write(_ record: UnsafeRawBufferPointer) {
        var rest = record
        while failure == nil, !rest.isEmpty {
            let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
            if count > 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            } else if errno == EAGAIN {
                // Somebody else made the descriptor non-blocking; a log waits for its reader all the same.
                var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&ready, 1, -1)
            } else if errno != EINTR {
                failure = errno
            }
        }
    }
}
