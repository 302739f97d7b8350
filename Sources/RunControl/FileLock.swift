internal import Glibc

/// Keeps a second run away from one file, whatever it is called and wherever its state is kept: the lock belongs to the
/// file itself, so that hard links, links and state directories all meet in it.
///
/// The kernel lets go of it with the process. A lock that the caller passed on counts as ours, so that
/// `flock flowrun.yml flowrun` goes on working.
package enum FileLock {
    /// Takes the lock for as long as the process lives: at once or, while `isEnding` says that its holder is, soon. Does
    /// nothing for what is no regular file, because nobody else can read a pipe.
    package static func take(of path: String, isEnding: () -> Bool = { false }) throws(RunLockError) {
        let file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard file >= 0 else {
            // A file that is gone since it was read is not in anybody's way.
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
        if error == EWOULDBLOCK, !isCallers, wait(for: file, while: isEnding) == 0 { return }
        close(file)
        switch error {
        case EWOULDBLOCK: if !isCallers { throw .held(by: nil) }
        // Some network file systems lock only what is open for writing. The lock in the state directory remains.
        case EBADF: break
        default: throw .unusable(errno: error)
        }
    }

    /// Takes a lock, at once or while `isEnding` says that its holder is about to let go, but no longer than two seconds:
    /// a run whose guard was killed takes its steps down first. Returns 0, or the error number.
    static func wait(for file: Int32, while isEnding: () -> Bool) -> Int32 {
        for _ in 0..<400 {
            if flock(file, LOCK_EX | LOCK_NB) == 0 { return 0 }
            let error = errno
            guard error == EWOULDBLOCK, isEnding() else { return error }
            usleep(5000)
        }
        return EWOULDBLOCK
    }

    /// Whether a descriptor that came with the process has the lock: for that one taking it again succeeds.
    private static func callerHasLock(of file: stat) -> Bool {
        guard let folder = opendir("/proc/self/fd") else { return false }
        defer { closedir(folder) }
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            var status = stat()
            guard let number = Int32(name), fstat(number, &status) == 0, status.st_dev == file.st_dev,
                status.st_ino == file.st_ino
            else { continue }
            if flock(number, LOCK_EX | LOCK_NB) == 0 { return true }
        }
        return false
    }
}
