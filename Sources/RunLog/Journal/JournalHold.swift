internal import Glibc

/// How a live run says so: a lock on its journal that only a look at the journal sees and that nobody waits for.
enum JournalHold {
    /// `F_OFD_GETLK` and `F_OFD_SETLK` of fcntl(2), which Swift does not import.
    private static let getCommand: Int32 = 36
    private static let setCommand: Int32 = 37

    private static var wholeFile: flock {
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        return lock
    }

    /// Lasts as long as the process. On a file system without such locks nobody sees it.
    static func take(_ journal: Int32) {
        var lock = wholeFile
        _ = fcntl(journal, setCommand, &lock)
    }

    /// Whether another process writes the journal.
    static func isTaken(_ journal: Int32) -> Bool {
        var lock = wholeFile
        return fcntl(journal, getCommand, &lock) == 0 && lock.l_type != Int16(F_UNLCK)
    }
}
