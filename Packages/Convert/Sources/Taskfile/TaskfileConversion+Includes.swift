internal import Syntax

/// A Taskfile that was read: the one to convert, or one that it includes.
struct TaskFile {
    let root: YAMLNode
    let source: YAMLSource
    /// The folder of the file, with a slash at its end; empty for that of the file to convert.
    let folder: String
    /// The file that includes it, and as what; nil for the file to convert.
    let parent: Int?
    let include: TaskInclude?
}

/// An entry of `includes`.
struct TaskInclude {
    let name: String
    let origin: Excerpt
    let path: String
    /// The folder in which the tasks run; nil for that of the file to convert.
    var dir: String?
    var isOptional = false
    var isInternal = false
    var isFlat = false
    var excludes: [String] = []
    var aliases: [String] = []
    var values: [TaskCall.Value] = []
    /// The reason why its tasks cannot be trusted; nil if there is none.
    var problem: String?

    init(_ key: YAMLNode, _ value: YAMLNode, _ source: YAMLSource, in folder: String) {
        (name, origin) = (key.text, source.excerpt(key, value))
        guard value.kind == .mapping else {
            path = value.text
            return
        }
        var fields = YAMLFields(value)
        path = fields.takeText("taskfile") ?? ""
        // Relative to the file that includes it, which is the default as well.
        let dir = fields.takeText("dir") ?? "."
        if dir.contains("{{") || dir.contains("$") || dir.hasPrefix("~") || dir.hasPrefix("/") {
            problem = "only a run knows the folder `\(dir)`"
        } else {
            let clean = JustFunction.clean(folder + dir)
            self.dir = clean == "." ? nil : clean
        }
        isOptional = fields.takeFlag("optional") ?? false
        isInternal = fields.takeFlag("internal") ?? false
        isFlat = fields.takeFlag("flatten") ?? false
        excludes = fields.takeTexts("excludes") ?? []
        aliases = fields.takeTexts("aliases") ?? []
        for (key, value) in fields.take("vars")?.entries.map({ ($0.key.text, $0.value) }) ?? [] {
            guard value.kind == .scalar, !value.text.contains("{{"), TaskVariables.type(of: value) == nil else {
                problem = problem ?? "what `\(key)` of the include `\(name)` is could not be converted"
                continue
            }
            values.append(TaskCall.Value(name: key, text: value.text))
        }
        if let key = fields.firstKey { problem = problem ?? "`\(key)` of the include `\(name)` was not understood" }
    }

    /// The file, of those that Task looks for; nil if it is not there or cannot be known.
    func file(in files: ForeignFolder, _ folder: String) -> (source: SourceLines, folder: String)? {
        guard !path.contains("{{"), !path.contains("://"), !path.contains("$"), !path.hasPrefix("~") else { return nil }
        let names = [
            "", "/Taskfile.yml", "/taskfile.yml", "/Taskfile.yaml", "/taskfile.yaml", "/Taskfile.dist.yml",
            "/taskfile.dist.yml", "/Taskfile.dist.yaml", "/taskfile.dist.yaml",
        ]
        let place = path.hasPrefix("/") ? path : JustFunction.clean(folder + path)
        for name in names {
            guard let source = files.source(place + name) else { continue }
            let full = place + name
            return (source, full.lastIndex(of: "/").map { String(full[...$0]) } ?? "")
        }
        return nil
    }
}

/// A task of one of the files, under its name in the file to convert.
struct TaskEntry {
    var name: String
    let key: YAMLNode
    let value: YAMLNode
    let file: Int
    /// The names before it, the innermost first.
    var path: [String] = []
    var dir: String?
    var isInternal = false
    var aliases: [String]
    /// The variables that the include gives to it.
    var values: [TaskCall.Value] = []
    var problem: String?
}

// The files that a Taskfile includes.
extension TaskfileConversion {
    /// Reads the files that the last of `files` names, and theirs, and calls `body` while the nodes of all are valid.
    mutating func load(_ pending: [(include: TaskInclude, parent: Int)], _ body: (inout Self) -> Void) {
        guard let (include, parent) = pending.first else { return body(&self) }
        let rest = Array(pending.dropFirst())
        guard files.count < 100, let (lines, folder) = include.file(in: self.folder, files[parent].folder) else {
            if !include.isOptional || !self.folder.isKnown || include.path.contains("{{") || include.path.contains("$")
            {
                let doubt = "the include `\(include.name)` was not read, and may define what this reads"
                variables.doubt = variables.doubt ?? doubt
                problem = problem ?? doubt
                draft.tail += include.origin.comments("not converted, one of `includes`")
            }
            return load(rest, body)
        }
        let file = SourceFile(name: lines.name, text: lines.lines.joined(separator: "\n") + "\n")
        let (document, findings) = YAMLParser.parse(file)
        guard let document, !findings.contains(where: { $0.severity == .error }) else {
            problem = problem ?? "the include `\(include.name)` cannot be read as YAML"
            return load(rest, body)
        }
        document.withRoot { root in
            let source = YAMLSource(file: file, lines: lines)
            files.append(TaskFile(root: root, source: source, folder: folder, parent: parent, include: include))
            load(rest + includes(of: files.count - 1), body)
        }
    }

    /// The entries of `includes` in a file.
    func includes(of index: Int) -> [(include: TaskInclude, parent: Int)] {
        var fields = YAMLFields(files[index].root)
        return fields.take("includes").map { node in
            node.entries.map { (TaskInclude($0.key, $0.value, files[index].source, in: files[index].folder), index) }
        } ?? []
    }

    /// The variables of all files, in the order in which Task determines them: those of an included file replace those
    /// of the file that includes it.
    mutating func merged(_ key: String) -> [TaskSetting] {
        var result: [TaskSetting] = []
        for (index, file) in files.enumerated() {
            var fields = YAMLFields(file.root)
            for (name, value) in fields.take(key)?.entries.map({ ($0.key, $0.value) }) ?? [] {
                let setting = TaskSetting(key: name, value: value, file: index)
                guard let known = result.firstIndex(where: { $0.key.text == name.text }) else {
                    result.append(setting)
                    continue
                }
                // Which of two included files comes last is not settled.
                let isUnclear = result[known].file != 0
                result[known] = setting
                result[known].isUnclear = isUnclear
            }
        }
        return result
    }

    /// The tasks of all files.
    mutating func entries() -> [TaskEntry] {
        var entries: [[TaskEntry]] = files.indices.map { index in
            var fields = YAMLFields(files[index].root)
            return fields.take("tasks")?.entries.map { key, value in
                var own = YAMLFields(value)
                return TaskEntry(
                    name: key.text, key: key, value: value, file: index, aliases: own.takeTexts("aliases") ?? [])
            } ?? []
        }
        // Files that others include stand behind them.
        for index in files.indices.reversed() {
            guard let include = files[index].include, let parent = files[index].parent else { continue }
            let hasDefault = entries[index].contains { $0.name == "default" }
            for var entry in entries[index] where !include.excludes.contains(entry.name) {
                if !include.isFlat {
                    let all = [entry.name] + entry.aliases
                    entry.aliases = entry.aliases.map { "\(include.name):\($0)" }
                    for alias in include.aliases { entry.aliases += all.map { "\(alias):\($0)" } }
                    if hasDefault, entry.name == "default",
                        !entries[parent].contains(where: { $0.name == include.name })
                    {
                        entry.aliases += [include.name] + include.aliases
                    }
                    entry.name = "\(include.name):\(entry.name)"
                    entry.path.append(include.name)
                }
                if let dir = include.dir { entry.dir = entry.dir.map { "\(dir)/\($0)" } ?? dir }
                entry.isInternal = entry.isInternal || include.isInternal
                entry.values += include.values.filter { value in !entry.values.contains { $0.name == value.name } }
                entry.problem = entry.problem ?? include.problem
                if entries[parent].contains(where: { $0.name == entry.name }) {
                    problem = problem ?? "two files have a task `\(entry.name)`"
                    continue
                }
                entries[parent].append(entry)
            }
        }
        return entries.first ?? []
    }

    /// Finds what an included file says about more than its own tasks.
    mutating func checkIncluded() {
        let known = ["version", "includes", "vars", "env", "tasks", "silent", "output", "interval", "method"]
        for file in files.dropFirst() {
            let name = file.include?.name ?? ""
            if let key = YAMLFields(file.root).otherKeys.first(where: { !known.contains($0) && !$0.hasPrefix("x-") }) {
                problem = problem ?? "`\(key)` of the include `\(name)` was not understood"
            }
        }
    }
}

/// A variable of a file.
struct TaskSetting {
    let key: YAMLNode
    let value: YAMLNode
    let file: Int
    /// True if the order of the files does not tell its value.
    var isUnclear = false
}
