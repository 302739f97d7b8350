internal import CLinux
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

/// An entry of an open folder. Nothing is copied.
package struct FolderEntry {
    /// The type that readdir(3) reports without stat(2); `other` may be anything.
    package enum Kind {
        case file, folder, link, other
    }

    /// Ends with a NUL and is valid until the next entry is read. Need not be UTF-8; may be `.` or `..`.
    package let name: UnsafePointer<CChar>
    package let kind: Kind

    private static let nameOffset = MemoryLayout<dirent>.offset(of: \.d_name).unsafelyUnwrapped

    /// Returns the next entry of a stream opened by `opendir`; nil at the end.
    package static func next(in stream: OpaquePointer) throws(SystemError) -> FolderEntry? {
        // Only `errno` distinguishes the end of the folder from an error.
        errno = 0
        guard let entry = readdir(stream) else {
            let error = errno
            guard error == 0 else { throw SystemError(error) }
            return nil
        }
        let kind: Kind =
            switch Int(entry.pointee.d_type) {
            case Int(DT_REG): .file
            case Int(DT_DIR): .folder
            case Int(DT_LNK): .link
            default: .other
            }
        let name = UnsafeRawPointer(entry) + nameOffset
        return FolderEntry(name: name.assumingMemoryBound(to: CChar.self), kind: kind)
    }
}

/// Removes a folder with its content. Follows no link and has no limit of depth. Grants itself missing permissions
/// first, because tools leave read-only folders behind.
///
/// No other process may change the content meanwhile.
package enum FolderRemoval {
    /// Removes as much as possible and throws the first error for what is left. O(entries), without allocating
    /// memory.
    package static func remove(_ path: String) throws(SystemError) {
        let result = clinux_remove_folder(path)
        guard result == 0 else { throw SystemError(-result) }
    }

    /// Removes the path if it is a folder of this user and no link; otherwise does nothing.
    package static func removeOwn(_ path: String) { _ = clinux_remove_own_folder(path) }
}

/// Returns the absolute path without links; nil, with `errno` set, if the path leads nowhere.
package func resolvedPath(_ path: String) -> String? {
    guard let found = realpath(path, nil) else { return nil }
    defer { free(found) }
    return String(cString: found)
}

/// Returns the path of the file that writing to `path` changes or creates: links are followed even if their target
/// does not exist yet. nil if there is no folder for the file.
package func writtenPath(_ path: String) -> String? {
    var path = path
    // As many links as the kernel follows: path_resolution(7).
    for _ in 0...40 {
        if let found = resolvedPath(path) { return found }
        let slash = path.lastIndex(of: "/")
        let folder = slash.map { String(path[...$0]) } ?? "./"
        guard let link = linkTarget(path) else {
            let name = slash.map { path[path.index(after: $0)...] } ?? path[...]
            return resolvedPath(folder).map { "\($0)/\(name)" }
        }
        path = link.hasPrefix("/") ? link : folder + link
    }
    return nil
}

private func linkTarget(_ path: String) -> String? {
    var target = [CChar](repeating: 0, count: Int(PATH_MAX))
    let length = readlink(path, &target, target.count)
    return length > 0 ? String(decoding: target[..<length].map(UInt8.init(bitPattern:)), as: UTF8.self) : nil
}
