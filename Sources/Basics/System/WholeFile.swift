internal import Glibc

/// Reads and writes whole files: continues after signals and short reads or writes.
package enum WholeFile {
    /// Reads everything from the current offset on, but at most `limit` bytes and one more, so that the caller sees
    /// when the limit is exceeded. Waits if the descriptor is non-blocking. `size` is the expected size, if known.
    package static func read(
        _ descriptor: Int32, limit: Int = .max - 1, expecting size: Int = 0
    ) throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        var wanted = min(max(size, 4095), limit) + 1
        while true {
            var failure: SystemError?
            let before = bytes.count
            bytes.append(addingCapacity: wanted) { span in
                span.withUnsafeMutableBufferPointer { buffer, count in
                    failure = fill(buffer, &count, from: descriptor)
                }
            }
            if let failure { throw failure }
            // Fewer bytes than wanted: the end of the file.
            if bytes.count - before < wanted || bytes.count > limit { return bytes }
            wanted = min(bytes.count, limit + 1 - bytes.count)
        }
    }

    private static func fill(
        _ buffer: UnsafeMutableBufferPointer<UInt8>, _ count: inout Int, from descriptor: Int32
    ) -> SystemError? {
        while count < buffer.count, let base = buffer.baseAddress {
            let got = Glibc.read(descriptor, base + count, buffer.count - count)
            if got == 0 { return nil }
            if got > 0 {
                count += got
            } else if errno == EAGAIN {
                wait(for: descriptor, POLLIN)
            } else if errno != EINTR {
                return .last
            }
        }
        return nil
    }

    package static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) throws(SystemError) {
        var rest = bytes
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
            if count >= 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            } else if errno == EAGAIN {
                wait(for: descriptor, POLLOUT)
            } else if errno != EINTR {
                throw .last
            }
        }
    }

    package static func write(_ bytes: [UInt8], to descriptor: Int32) throws(SystemError) {
        let failure: SystemError? = bytes.withUnsafeBytes { bytes in
            do throws(SystemError) {
                try write(bytes, to: descriptor)
                return nil
            } catch {
                return error
            }
        }
        if let failure { throw failure }
    }

    private static func wait(for descriptor: Int32, _ events: Int32) {
        var request = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        poll(&request, 1, -1)
    }
}

/// The error number of a failed system call.
package struct SystemError: Error, Hashable {
    package let number: Int32

    package init(_ number: Int32) { self.number = number }

    /// The error of the call that has just failed.
    package static var last: SystemError { SystemError(errno) }

    /// The system's message in lower case: `no such file or directory`.
    package var words: String { String(cString: strerror(number)).lowercased() }
}
