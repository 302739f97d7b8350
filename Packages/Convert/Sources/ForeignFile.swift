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
    package func draft() throws(ForeignFileError) -> WorkflowDraft {
        var draft = try converted()
        draft.head = ["Made from \(source.name) by `flowrun init --from`."] + draft.head
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

/// The reason why a file cannot be converted at all.
package struct ForeignFileError: Error {
    package let message: String
    /// The findings about its text.
    package let findings: [Diagnostic]

    init(_ message: String, _ findings: [Diagnostic]) {
        self.message = message
        self.findings = findings
    }
}
