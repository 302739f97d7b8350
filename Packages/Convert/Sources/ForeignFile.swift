package import Syntax

/// The file of another tool that is to become a workflow.
package struct ForeignFile {
    package enum Kind: String, Sendable, CaseIterable {
        case makefile = "Makefile"
        case taskfile = "Taskfile"
        case justfile
        case gitHubWorkflow = "GitHub workflow"
    }

    package let kind: Kind
    private let file: SourceFile
    private let source: SourceLines
    private let folder: ForeignFolder

    /// nil for a file that is none of these, or of a kind that is unclear. Files that it includes are looked for in
    /// `folder`.
    package init?(_ file: SourceFile, in folder: ForeignFolder = .unknown) {
        self.file = file
        self.folder = folder
        let name = file.name.split(separator: "/").last.map(String.init) ?? file.name
        // Swift counts a carriage return and a line feed as one character.
        let text = String(decoding: file.bytes.filter { $0 != UInt8(ascii: "\r") }, as: UTF8.self)
        source = SourceLines(name: name, text: text)
        guard let kind = Self.kind(of: name, source) else { return nil }
        self.kind = kind
    }

    private static func kind(of name: String, _ source: SourceLines) -> Kind? {
        let lowercased = name.lowercased()
        if lowercased.hasSuffix(".yml") || lowercased.hasSuffix(".yaml") {
            if source.lines.contains(where: { $0.hasPrefix("jobs:") }) { return .gitHubWorkflow }
            return source.lines.contains { $0.hasPrefix("tasks:") || $0.hasPrefix("includes:") } ? .taskfile : nil
        }
        if lowercased == "justfile" || lowercased == ".justfile" || lowercased.hasSuffix(".just") { return .justfile }
        let isMakefile =
            lowercased == "makefile" || lowercased == "gnumakefile" || lowercased.hasPrefix("makefile.")
            || lowercased.hasSuffix(".mk") || lowercased.hasSuffix(".mak")
        return isMakefile ? .makefile : nil
    }

    /// Converts the file to a workflow, with a comment on its origin. Parts that cannot be converted become comments.
    /// Throws if the file is not YAML where it should be, or has nothing that could be a step.
    package func draft() throws(ForeignFileError) -> WorkflowDraft { try finished(try converted()) }

    /// The tool that may be asked about the file; nil if there is none.
    package var question: ToolQuestion? {
        switch kind {
        case .makefile: .make(source.name)
        case .justfile: .just(source.name)
        case .taskfile: .task(source.name)
        case .gitHubWorkflow: nil
        }
    }

    /// Converts the file with what its own tool says about it.
    package func draft(asking ask: ToolQuestion.Asking) async throws(ForeignFileError) -> WorkflowDraft {
        guard let question else { return try draft() }
        var draft = WorkflowDraft()
        switch kind {
        case .makefile:
            let answer = try await MakeAnswer.ask(about: source, in: folder, ask)
            draft = MakefileConversion.draft(of: source, in: folder, answer: answer)
        case .justfile:
            let own = try converted()
            let answer = try await ask(question)
            guard let dump = JustDump(answer, order: JustReader.recipes(of: source)) else { throw unreadable(question) }
            draft = dump.draft(besides: own, of: source, in: folder)
        case .taskfile:
            guard let list = TaskList(try await ask(question)) else { throw unreadable(question) }
            draft = list.complete(try converted(), of: source, in: folder)
        case .gitHubWorkflow: draft = try converted()
        }
        return try finished(draft, asked: true)
    }

    private func unreadable(_ question: ToolQuestion) -> ForeignFileError {
        ForeignFileError(
            "`\(question.spelling)` about `\(question.file)`: the answer is no JSON as this version of flowrun knows "
                + "it; update \(question.program), or convert it without `--ask-tool`")
    }

    /// The way in which the file is read, for the report and for the head of the workflow.
    package func reader(asked: Bool) -> String {
        guard asked, let question else { return "read by flowrun alone" }
        return "read by flowrun and `\(question.spelling)`"
    }

    private func finished(_ draft: WorkflowDraft, asked: Bool = false) throws(ForeignFileError) -> WorkflowDraft {
        var draft = draft
        let command = "flowrun init --from\(asked ? " --ask-tool" : "")"
        var head = ["Made from \(source.name) by `\(command)`, \(reader(asked: asked))."]
        if asked, kind == .makefile {
            head.append("What make computed to read the file is as it was then, on that machine.")
        }
        draft.head = head + draft.head
        guard !draft.steps.isEmpty else {
            throw ForeignFileError("`\(file.name)` has nothing that could be a step", [])
        }
        return draft
    }

    private func converted() throws(ForeignFileError) -> WorkflowDraft {
        switch kind {
        case .makefile: return MakefileConversion.draft(of: source, in: folder)
        case .justfile: return JustfileConversion.draft(of: source, in: folder)
        case .taskfile: return try converted { TaskfileConversion.draft(of: $0, source: $1, in: folder) }
        case .gitHubWorkflow: return try converted(GitHubConversion.draft)
        }
    }

    private func converted(_ convert: (YAMLNode, YAMLSource) -> WorkflowDraft) throws(ForeignFileError) -> WorkflowDraft
    {
        let (document, findings) = YAMLParser.parse(file)
        let source = YAMLSource(file: file, lines: source)
        guard let document else { throw ForeignFileError("`\(file.name)` cannot be read as YAML", findings) }
        var draft = document.withRoot { convert($0, source) }
        draft.tail += YAMLSource.comments(on: findings, in: source)
        return draft
    }
}
