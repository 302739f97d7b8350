internal import Basics
internal import Glibc

/// Keeps runs of the same file apart that do not see each other's claims: those with another state directory, and those
/// under another name. The lock belongs to the file itself, so that hard links, symbolic links and state directories
/// share it.
///
/// Runs that see each other share it. The kernel releases it with the process. A lock inherited from the caller counts
/// as ours, so that `flock flowrun.yml flowrun` works.
struct FileLock {
    /// A process that has the lock of a file.
    struct Holder: Hashable {
        let process: Int32

        /// True if it runs this program, or is about to end: the kernel then no longer shows its program, and
        /// releases its locks only afterwards.
        var isFlowrun: Bool {
            var (own, other) = (stat(), stat())
            guard stat("/proc/self/exe", &own) == 0 else { return false }
            guard stat("/proc/\(process)/exe", &other) == 0 else {
                // A flowrun with secrets is hidden from its own user; only its name is readable.
                return errno == ENOENT || errno == EACCES && Self.name(of: "\(process)") == Self.name(of: "self")
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

    private static let shortestWait: UInt32 = 2_000
    private static let longestWait: UInt32 = 40_000

    /// Takes the lock for the rest of the process; does nothing unless the file is regular, because no other run can
    /// read the same pipe. While the lock belongs to processes that `isKnown` does not tell to be runs beside this one,
    /// calls `wait` with one of them, nil if it is not known, and tries again; what `wait` throws ends that.
    ///
    /// `isShared` is false for a run that no other one can see.
    static func take(
        of path: String, isShared: Bool, isKnown: (Set<Int32>) -> Set<Int32>,
        wait: (Holder?) throws(CommandError) -> Void
    ) throws(CommandError) {
        let file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard file >= 0 else {
            // A file that was removed since it was read needs no lock.
            if errno == ENOENT { return }
            throw unusable(path, errno)
        }
        var isKept = false
        defer { if !isKept { close(file) } }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return }
        do throws(SystemError) {
            // Alone, it needs no look at others: of two that convert at once, one finds the lock taken.
            if try lock(file, LOCK_EX) { isKept = isShared ? try lock(file, LOCK_SH) : true }
        } catch {
            // Some network file systems lock only files that are open for writing. The lock in the state directory
            // remains.
            if error.number == EBADF { return }
            throw unusable(path, error.number)
        }
        if isKept || callerHasLock(of: status, beside: file) { return }
        var pause = shortestWait
        while true {
            let stranger: Stranger?
            do throws(SystemError) {
                stranger = try Self.stranger(keeping: file, status, isShared: isShared, isKnown)
            } catch { throw unusable(path, error.number) }
            guard let stranger else {
                isKept = true
                return
            }
            try wait(stranger.holder)
            // Two that look for each other at once must not do so again.
            usleep(UInt32.random(in: pause / 2...pause))
            pause = min(pause * 2, longestWait)
        }
    }

    /// Another owner of the lock; its process is nil if the kernel does not tell it.
    private struct Stranger { let holder: Holder? }

    /// Takes the lock and returns nil, or leaves it to one that `isKnown` does not know.
    private static func stranger(
        keeping file: Int32, _ status: stat, isShared: Bool, _ isKnown: (Set<Int32>) -> Set<Int32>
    ) throws(SystemError) -> Stranger? {
        guard try lock(file, isShared ? LOCK_SH : LOCK_EX) else {
            return Stranger(holder: others(at: status).min().map(Holder.init))
        }
        guard isShared else { return nil }
        // Nothing can have a lock for writing beside it, unless on a file with the same inode elsewhere.
        let others = others(at: status, of: "READ")
        guard let other = others.subtracting(isKnown(others)).min() else { return nil }
        flock(file, LOCK_UN)
        return Stranger(holder: Holder(process: other))
    }

    /// Returns false if another one has the lock.
    private static func lock(_ file: Int32, _ kind: Int32) throws(SystemError) -> Bool {
        if flock(file, kind | LOCK_NB) == 0 { return true }
        if errno == EWOULDBLOCK { return false }
        throw .last
    }

    private static func unusable(_ path: String, _ error: Int32) -> CommandError {
        .unable("cannot lock `\(path)`: \(SystemError(error).words); copy it to a file system that has locks")
    }

    /// Finds the other holders in the kernel's list of locks, by the inode of the file and the kind of lock; nil for
    /// any kind. The list has the device too, but on some file systems (btrfs, overlayfs) not as `stat` reports it. A
    /// file of another device with this inode may therefore match.
    private static func others(at file: stat, of kind: Substring? = nil) -> Set<Int32> {
        let locks = open("/proc/locks", O_RDONLY | O_CLOEXEC)
        guard locks >= 0 else { return [] }
        defer { close(locks) }
        guard let list = try? WholeFile.read(locks) else { return [] }
        let own = getpid()
        var holders: Set<Int32> = []
        for line in list.split(separator: UInt8(ascii: "\n")) {
            // 1: FLOCK ADVISORY WRITE 4711 fe:01:52438 0 EOF
            let fields = String(decoding: line, as: UTF8.self).split(separator: " ")
            guard fields.count > 5, fields[1] == "FLOCK", kind == nil || fields[3] == kind,
                let pid = Int32(fields[4]), pid > 0,
                let inode = fields[5].split(separator: ":").last.flatMap({ UInt64($0) }), inode == file.st_ino
            else { continue }
            if pid != own { holders.insert(pid) }
        }
        return holders
    }

    /// True if an inherited descriptor has a lock of the file.
    private static func callerHasLock(of file: stat, beside own: Int32) -> Bool {
        guard let folder = opendir("/proc/self/fd") else { return false }
        defer { closedir(folder) }
        while let entry = try? FolderEntry.next(in: folder) {
            var status = stat()
            guard let number = Int32(String(cString: entry.name)), number != own, fstat(number, &status) == 0,
                status.st_dev == file.st_dev, status.st_ino == file.st_ino
            else { continue }
            // Trying the lock would take one that is free, and give up one that is shared.
            let information = open("/proc/self/fdinfo/\(number)", O_RDONLY | O_CLOEXEC)
            guard information >= 0 else { continue }
            defer { close(information) }
            let text = (try? WholeFile.read(information)).map { String(decoding: $0, as: UTF8.self) } ?? ""
            if text.split(separator: "\n").contains(where: { $0.hasPrefix("lock:") && $0.contains("FLOCK") }) {
                return true
            }
        }
        return false
    }
}
