internal import Basics
internal import Glibc
internal import Syntax
internal import Workflow

/// Finds and reads the files that a workflow uses, on the way from its own file.
enum UsedFiles {
    /// Those of the workflow at a path, which may be `-`: then the way begins in the current folder. Where
    /// `allowsOutside` is false, only files that are, links followed, inside of the workflow's folder.
    static func of(_ path: String, allowsOutside: Bool) -> WorkflowFiles {
        let isStandardInput = path == "-"
        let slash = isStandardInput ? nil : path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let folder = slash.map { String(path[...$0]) } ?? ""
        return WorkflowFiles(identity: { isStandardInput ? nil : resolvedPath(path) }) { way in
            let name = folder + way
            guard let identity = resolvedPath(name) else {
                let error = errno
                return .unreadable(error == ENOENT ? "there is no such file" : String(cString: strerror(error)))
            }
            guard allowsOutside || isInside(identity, folder) else { return .outside }
            let (file, problem) = SourceFile.read(name)
            if let problem { return .unreadable(problem.message) }
            return .found(identity: identity, name: name, bytes: file.bytes)
        }
    }

    private static func isInside(_ path: String, _ folder: String) -> Bool {
        guard let folder = resolvedPath(folder.isEmpty ? "." : folder) else { return false }
        return folder == "/" || path.hasPrefix("\(folder)/")
    }
}
