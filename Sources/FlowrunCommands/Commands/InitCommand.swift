internal import Basics
internal import Glibc
internal import Planning
internal import Syntax
internal import Workflow
internal import WorkflowConversion

/// `flowrun init`: writes a first workflow file for a folder, or one converted from another tool's file.
struct InitCommand {
    /// The file to convert; nil to inspect the folder.
    private let source: String?
    /// `-` is standard output; nil if the command line does not say.
    private let destination: String?
    /// The time for each answer of the file's own tool; nil if it is not to be asked.
    private let patience: Duration?
    /// The longest answer that is waited for by default.
    private static let usualPatience = Duration.seconds(60)

    init(_ arguments: Arguments) throws(CommandError) {
        source = arguments.value(.from)
        destination = arguments.value(.destination)
        let limit = try arguments.duration(.timeout)
        patience = arguments.has(.askTool) ? limit ?? Self.usualPatience : nil
        if patience != nil, source == nil {
            throw .syntax("`--ask-tool` needs the file to ask about: `--from FILE`", .`init`)
        }
        if patience == nil, limit != nil { throw .syntax("`--timeout` is only for `--ask-tool`", .`init`) }
        if let word = arguments.operands.first {
            throw .syntax("unexpected `\(word)`; to convert a file, write `--from \(word)`", .`init`)
        }
    }

    func callAsFunction() throws(CommandError) {
        let path = destination ?? Self.place(besides: source)
        // Checked before anything is read, so that the error does not depend on the content.
        if path != "-", let existing = existing(path) {
            throw .failed("`\(existing)` exists and is not replaced; name another file with `-o FILE`")
        }
        let (draft, lines) = if let source { try converted(source) } else { looked() }
        let text = Self.modeline + draft.text
        guard path != "-" else {
            try StandardStream.output.deliver(.asIs(text))
            return lines(nil).forEach(StandardStream.error.say)
        }
        try Self.write(text, to: path)
        try StandardStream.output.deliver(.lines(lines(path).map { $0.visible + "\n" }.joined()))
    }

    /// The first line: an editor finds the schema where `make install` has put it, beside this program, or else in the
    /// file that `flowrun schema` can make.
    private static var modeline: String {
        let installed = resolvedPath("/proc/self/exe").flatMap { program -> String? in
            let folders = program.split(separator: "/").dropLast(2)
            let prefix = folders.isEmpty ? "" : "/" + folders.joined(separator: "/")
            let path = "\(prefix)/share/doc/flowrun/schema/flowrun.schema.json"
            return access(path, R_OK) == 0 && path.visible == path && !path.contains(" ") ? path : nil
        }
        return "# yaml-language-server: $schema=\(installed ?? "flowrun.schema.json")\n#\n"
    }

    /// Returns the path beside the file to convert. The steps of a GitHub workflow run in the folder of `.github`.
    private static func place(besides source: String?) -> String {
        guard let source, let slash = source.lastIndex(of: "/") else { return DefaultFile.names[0] }
        let folder = source[..<slash]
        let root = folder.hasSuffix(".github/workflows") ? folder.dropLast(".github/workflows".count) : folder + "/"
        return root + DefaultFile.names[0]
    }

    /// Returns the existing file that must not be replaced; nil if there is none.
    private func existing(_ path: String) -> String? {
        let names = DefaultFile.names
        guard destination == nil, path.hasSuffix(names[0]) else { return access(path, F_OK) == 0 ? path : nil }
        let folder = path.dropLast(names[0].count)
        return names.map { folder + $0 }.first { access($0, F_OK) == 0 }
    }

    // MARK: - Content

    /// Makes the lines that report the result, given the path of the file; nil for standard output.
    private typealias Report = (String?) -> [String]

    private func looked() -> (WorkflowDraft, Report) {
        let folder = ProjectFolder(names: Self.names(in: ".")) { Self.text(of: $0) }
        let draft = folder.draft
        let found = folder.found
        let convertible = folder.convertible
        return (
            draft,
            { path in
                let what = found.isEmpty ? "of two steps to start from" : "for \(Phrase.all(found))"
                let written = path.map { "wrote `\($0)`: a workflow \(what)" } ?? "a workflow \(what)"
                let hints = convertible.map { file in
                    "`flowrun init --from \(file.shellWord) -o FILE` converts `\(file)` step by step"
                }
                return [written] + hints + (path == nil ? [] : ["next: `flowrun list`, then `flowrun`"])
            }
        )
    }

    private func converted(_ source: String) throws(CommandError) -> (WorkflowDraft, Report) {
        let (file, unreadable) = SourceFile.read(source)
        if let unreadable { throw .unable("`\(source)`: \(unreadable.message)") }
        guard let foreign = ForeignFile(file, in: Self.folder(of: source)) else {
            throw .usage(
                """
                `\(source)` is not known as a file to convert; expected a Makefile or *.mk, a justfile or *.just, or \
                a *.yml with `tasks:` or `includes:` (Taskfile) or `jobs:` (GitHub workflow)
                """)
        }
        let question = foreign.question
        if patience != nil, question == nil {
            throw .usage(
                """
                `--ask-tool`: no tool answers for `\(source)`, a \(foreign.kind.rawValue); expected a Makefile, a \
                justfile or a Taskfile; convert it without `--ask-tool`
                """)
        }
        let reader = foreign.reader(asked: patience != nil)
        var draft: WorkflowDraft
        do throws(ForeignFileError) {
            if let patience {
                draft = try Self.asked(about: source, patience).get()
            } else {
                draft = try foreign.draft()
            }
        } catch {
            StandardStream.error.show(error.findings)
            throw .failed(error.message)
        }
        draft.settle(check: Self.wrongLines)
        let (count, unfinished) = (draft.stepCount, draft.unfinishedIDs)
        return (
            draft,
            { path in
                let written = path.map { "wrote `\($0)`" } ?? "converted"
                var lines = ["\(written): \(count.counted("step")) from `\(source)`, \(reader)"]
                if !unfinished.isEmpty {
                    lines.append("to be filled in: \(unfinished.joined(separator: ", "))")
                }
                if draft.text.contains("not converted") {
                    lines.append("what could not be converted is in comments that say `not converted`")
                }
                if let path {
                    let option = DefaultFile.names.contains(path) ? "" : " \(path.shellWord)"
                    lines.append("next: `flowrun list\(option)`")
                }
                return lines
            }
        )
    }

    /// Returns the lines of a workflow that `flowrun check` rejects.
    private static func wrongLines(_ text: String) -> [Int] {
        let file = SourceFile(name: DefaultFile.names[0], text: text)
        let (workflow, findings) = WorkflowDecoder.read(file)
        return (findings + (workflow.map(Planner.findings) ?? []))
            .filter { $0.severity == .error }
            .map { file.line(at: $0.range.lowerOffset) }
    }

    /// Converts a file with what its own tool says about it.
    private static func asked(about source: String, _ patience: Duration) -> AskedTool.Conversion {
        let slash = source.lastIndex(of: "/")
        let place = slash.map { String(source[...$0]) } ?? "."
        guard let place = resolvedPath(place) else {
            return .failure(ForeignFileError("`\(place)`: \(SystemError(errno).words)"))
        }
        return AskedTool.answers(in: place, patience: patience) { copy, ask in
            let (file, _) = SourceFile.read(source)
            let folder = folder(of: source, made: copy)
            guard let foreign = ForeignFile(file, in: folder) else {
                return .failure(ForeignFileError("`\(source)` has changed meanwhile"))
            }
            do throws(ForeignFileError) {
                return .success(try await foreign.draft(asking: ask))
            } catch {
                return .failure(error)
            }
        }
    }

    // MARK: - Files

    /// The files beside the one to convert, which it may include; `copy` is a folder in which a tool may have made
    /// others.
    private static func folder(of source: String, made copy: String? = nil) -> ForeignFolder {
        let folder = source.lastIndex(of: "/").map { String(source[...$0]) } ?? ""
        @Sendable func path(_ name: String) -> String { name.hasPrefix("/") ? name : folder + name }
        return ForeignFolder(
            names: { name in
                let path = path(name)
                return isFolder(path) ? names(in: path) : nil
            },
            text: { text(of: path($0)) },
            made: { name in name.hasPrefix("/") ? nil : copy.flatMap { text(of: "\($0)/\(name)") } })
    }

    private static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    private static func names(in folder: String) -> Set<String> {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: Set<String> = []
        while let entry = try? FolderEntry.next(in: stream) { names.insert(String(cString: entry.name)) }
        return names
    }

    /// Returns nil for a file that cannot be read as text.
    private static func text(of name: String) -> String? {
        let (file, unreadable) = SourceFile.read(name)
        return unreadable == nil ? String(decoding: file.bytes.filter { $0 != UInt8(ascii: "\r") }, as: UTF8.self) : nil
    }

    /// Makes the file; throws if it exists by now.
    private static func write(_ text: String, to path: String) throws(CommandError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw .unable("cannot write `\(path)`: \(SystemError(errno).words)") }
        defer { close(descriptor) }
        do throws(SystemError) {
            try WholeFile.write(Array(text.utf8), to: descriptor)
        } catch {
            unlink(path)
            throw .unable("cannot write `\(path)`: \(error.words)")
        }
    }
}
