internal import Glibc

/// Reading and writing to the end, whatever signals come between and however little one call takes.
package enum WholeFile {
    /// Everything from where the descriptor stands, at most `limit` bytes and one more, so that going over the limit
    /// shows. Waits for a descriptor that is non-blocking. `size` is what is expected, if anything is known of it.
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
            // Less than was wanted is the end.
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
