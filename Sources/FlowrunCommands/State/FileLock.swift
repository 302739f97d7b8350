internal import Basics
internal import Glibc

/// Prevents a second run of the same file, under any name and with any state directory: the lock belongs to the file
/// itself, so that hard links, symbolic links and state directories share it.
///
/// The kernel releases it with the process. A lock inherited from the caller counts as ours, so that `flock
/// flowrun.yml flowrun` works.
enum FileLock {
    /// A process that has the lock of a file.
    struct Holder {
        fileprivate let pid: Int32

        /// True if it runs this program, or is about to end: the kernel then no longer shows its program, and
        /// releases its locks only afterwards.
        var isFlowrun: Bool {
            var (own, other) = (stat(), stat())
            guard stat("/proc/self/exe", &own) == 0 else { return false }
            guard stat("/proc/\(pid)/exe", &other) == 0 else {
                // A flowrun with secrets is hidden from its own user; only its name is readable.
                return errno == ENOENT || errno == EACCES && Self.name(of: "\(pid)") == Self.name(of: "self")
            }
            return own.st_dev == other.st_dev && own.st_ino == other.st_ino
        }

        private static func name(of process: String) -> [UInt8]? {
            let file = open("/proc/\(process)/comm", O_RDONLY | O_CLOEXEC)
            guard file >= 0 else { return nil }
            defer { close(file) }
            return try? WholeFile.read(file)
        }
    }

    /// Takes the lock for the rest of the process: at once, or as soon as it is released while `isEnding` returns
    /// true for its holder, which is nil if unknown. Does nothing unless the file is regular, because no other run
    /// can read the same pipe.
    static func take(of path: String, isEnding: (Holder?) -> Bool = { _ in false }) throws(RunLockError) {
        let file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard file >= 0 else {
            // A file that was removed since it was read needs no lock.
            if errno == ENOENT { return }
            throw .unusable(errno: errno)
        }
        var status = stat()
        let isRegular = fstat(file, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        guard isRegular, flock(file, LOCK_EX | LOCK_NB) != 0 else {
            if !isRegular { close(file) }
            return
        }
        let error = errno
        let isCallers = error == EWOULDBLOCK && callerHasLock(of: status)
        if error == EWOULDBLOCK, !isCallers, wait(for: file, while: { isEnding(holder(of: status)) }) == 0 {
            return
        }
        close(file)
        switch error {
        case EWOULDBLOCK: if !isCallers { throw .held(by: nil) }
        // Some network file systems lock only files that are open for writing. The lock in the state directory
        // remains.
        case EBADF: break
        default: throw .unusable(errno: error)
        }
    }

    /// Takes a lock, at once or while `isEnding` returns true, but waits at most two seconds: a run whose guard was
    /// killed ends its steps before it releases the lock. Returns 0, or the error number.
    static func wait(for file: Int32, while isEnding: () -> Bool) -> Int32 {
        for _ in 0..<400 {
            if flock(file, LOCK_EX | LOCK_NB) == 0 { return 0 }
            let error = errno
            guard error == EWOULDBLOCK, isEnding() else { return error }
            usleep(5000)
        }
        return EWOULDBLOCK
    }

    /// Finds the holder in the kernel's list of locks, by the inode of the file. The list has the device too, but on
    /// some file systems (btrfs, overlayfs) not as `stat` reports it. A file of another device with this inode may
    /// therefore match.
    private static func holder(of file: stat) -> Holder? {
        let locks = open("/proc/locks", O_RDONLY | O_CLOEXEC)
        guard locks >= 0 else { return nil }
        defer { close(locks) }
        guard let list = try? WholeFile.read(locks) else { return nil }
        for line in list.split(separator: UInt8(ascii: "\n")) {
            // 1: FLOCK ADVISORY WRITE 4711 fe:01:52438 0 EOF
            let fields = String(decoding: line, as: UTF8.self).split(separator: " ")
            guard fields.count > 5, fields[1] == "FLOCK", let pid = Int32(fields[4]), pid > 0,
                let inode = fields[5].split(separator: ":").last.flatMap({ UInt64($0) }), inode == file.st_ino
            else { continue }
            return Holder(pid: pid)
        }
        return nil
    }

    /// True if an inherited descriptor has the lock: for that one, taking it again succeeds.
    private static func callerHasLock(of file: stat) -> Bool {
        guard let folder = opendir("/proc/self/fd") else { return false }
        defer { closedir(folder) }
        while let entry = try? FolderEntry.next(in: folder) {
            var status = stat()
            guard let number = Int32(String(cString: entry.name)), fstat(number, &status) == 0,
                status.st_dev == file.st_dev, status.st_ino == file.st_ino
            else { continue }
            if flock(number, LOCK_EX | LOCK_NB) == 0 { return true }
        }
        return false
    }
}
