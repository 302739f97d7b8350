internal import CLinux
internal import Glibc

extension ProcessCommand {
    /// Starts the process; returns an error number or 0.
    @EventLoopActor
    func spawn(output: Int32, error: Int32, pid: inout pid_t, pidfd: inout Int32) -> Int32 {
        withCStrings(arguments) { argv in
            environment.withPointers { envp in
                path.withCString { path in
                    withOptionalCString(workingDirectory) { folder in
                        var request = clinux_spawn_request(
                            path: path, argv: argv, envp: envp, working_directory: folder,
                            standard_input: standardInput?.descriptor ?? -1, standard_output: output,
                            standard_error: error)
                        return clinux_spawn(&request, &Signals.defaulted, &pid, &pidfd)
                    }
                }
            }
        }
    }

    /// What an error number of `spawn` is about: both the folder and the program can be missing.
    func subject(of error: Int32) -> SpawnError.Subject {
        guard let workingDirectory, error == ENOENT || error == ENOTDIR || error == EACCES else { return .program }
        var status = stat()
        guard stat(workingDirectory, &status) == 0, status.st_mode & S_IFMT == S_IFDIR,
            access(workingDirectory, X_OK) == 0
        else { return .workingDirectory }
        return .program
    }
}

private func withOptionalCString<Result>(_ text: String?, _ body: (UnsafePointer<CChar>?) -> Result) -> Result {
    guard let text else { return body(nil) }
    return text.withCString(body)
}

/// A nil-terminated argument vector, all strings in one allocation, valid during the call.
private func withCStrings<Result>(
    _ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
    let size = strings.reduce(0) { $0 + $1.utf8.count + 1 }
    return withUnsafeTemporaryAllocation(byteCount: max(size, 1), alignment: 1) { bytes in
        withUnsafeTemporaryAllocation(of: UnsafeMutablePointer<CChar>?.self, capacity: strings.count + 1) { pointers in
            var rest = bytes[...]
            for index in strings.indices {
                pointers.initializeElement(
                    at: index,
                    to: rest.base.baseAddress.map { ($0 + rest.startIndex).assumingMemoryBound(to: CChar.self) })
                var string = strings[index]
                string.withUTF8 { UnsafeMutableRawBufferPointer(rebasing: rest).copyBytes(from: $0) }
                rest = rest.dropFirst(string.utf8.count)
                rest[rest.startIndex] = 0
                rest = rest.dropFirst()
            }
            pointers.initializeElement(at: strings.count, to: nil)
            return body(pointers.baseAddress!)
        }
    }
}
