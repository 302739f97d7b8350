package import Syntax

/// Reads YAML nodes as a workflow and reports all mistakes in them at once.
///
/// Invalid parts are left out or replaced, and reading goes on: the workflow is as complete as the file allows, so
/// that the planner can add its findings about the graph. Knows nothing of edges between steps; names in `needs` are
/// kept as they are.
package struct WorkflowDecoder {
    /// The workflow's own file, which includes those that it uses.
    let file: SourceFile
    let files: WorkflowFiles
    var nodes: [WorkflowNode] = []
    var needs: [Need] = []
    var uses: [Use] = []
    var namingKeys = KeySet()
    /// Of all files.
    var runSecrets: [Secret] = []
    var runPools: [Pool] = []
    /// The index of each name in `runSecrets` and `runPools`.
    var secretPositions: [String: Int] = [:]
    var poolPositions: [String: Int] = [:]
    var findings = FindingList()
    /// The document being read.
    var document: DecodedDocument
    /// The bodies that enclose the place being read, outermost first.
    var openBodies: [OpenBody] = []
    /// The documents of used files, by identity.
    var documents: [String: YAMLDocument] = [:]
    /// The identities of files, by the paths under which they are used.
    var identities: [String: String] = [:]
    /// True if the current text has been read before, so that all findings about it exist already.
    var isKnown = false
    var useCount = 0
    var isUseLimitTold = false
    /// The identities in each reported cycle, so that it is reported once.
    var toldRings: Set<Set<String>> = []
    var suggestions = Suggestion()
    /// True once a key with an expression over parameters has been read.
    var hasComputedSettings = false
    /// Commands of `require` that are still to be placed among the shared values of a group.
    var preconditions: [SharedValue] = []
    /// The innermost step or group that is being read; nil outside of them.
    var member: MappingReader.Entry?

    /// Reads the workflow of a file, with every finding about its text and its keys; nil if the text is not YAML or
    /// not a mapping. The nodes of the text are gone when this returns. `files` are those that it may use.
    package static func read(
        _ file: SourceFile, files: WorkflowFiles = .none
    ) -> (workflow: Workflow?, diagnostics: [Diagnostic]) {
        let (document, textFindings) = YAMLParser.parse(file)
        guard let document else { return (nil, textFindings) }
        let (workflow, keyFindings) = decode(document, files: files)
        return (workflow, textFindings + keyFindings)
    }

    /// Reads the workflow of a document; it is nil only if the document is not a mapping.
    package static func decode(
        _ document: YAMLDocument, files: WorkflowFiles = .none
    ) -> (workflow: Workflow?, diagnostics: [Diagnostic]) {
        var decoder = WorkflowDecoder(document.file, files)
        let workflow = document.withRoot { root in
            let workflow = decoder.decodeWorkflow(root)
            decoder.reportExpressions(below: root, rowCount: document.rowCount)
            return workflow
        }
        return (workflow, decoder.findings.sorted)
    }

    /// With `isComputed`, the file holds values that expressions made: nothing in it is an expression.
    init(_ file: SourceFile, _ files: WorkflowFiles, isComputed: Bool = false) {
        self.file = file
        self.files = files
        document = DecodedDocument(file, folder: "", isComputed: isComputed)
    }

    private mutating func decodeWorkflow(_ root: YAMLNode) -> Workflow? {
        guard var reader = fileReader(root) else { return nil }
        openBodies = [OpenBody(identity: Self.firstFile, name: file.name, use: nil)]
        let top = decodeTop(&reader)
        var workflow = Workflow(
            file: file, name: top.name, description: top.description, defaults: top.defaults, nodes: [])
        workflow.defaultSteps = top.defaultSteps
        workflow.parameters = top.parameters
        workflow.outputLimit = top.outputLimit
        nodes.append(
            WorkflowNode(
                id: "", range: reader.firstKeyRange, parent: .root, subtreeEnd: 1, body: .group,
                settings: decodeSettings(reader, in: .top)))
        checkTemplates()
        decodeBody(reader, of: .root)
        (workflow.nodes, workflow.needs, workflow.uses) = (nodes, needs, uses)
        (workflow.secrets, workflow.pools) = (runSecrets, runPools)
        workflow.hasComputedSettings = hasComputedSettings
        workflow.namingKeys = namingKeys
        return workflow
    }

    /// Returns the keys of a workflow file; nil if it is not a mapping.
    mutating func fileReader(_ root: YAMLNode) -> MappingReader? {
        guard root.kind == .mapping else {
            if root.kind != .invalid {
                report(
                    .wrongType, "a workflow is a mapping with `version` and `steps`, found \(found(root))", at: root)
            }
            return nil
        }
        var reader = MappingReader(root)
        reportStrayKeys(&reader, in: .top)
        decodeVersion(&reader)
        return reader
    }

    /// The keys that only the top of a file has.
    struct Top {
        let name: String?
        let description: String?
        let defaults: Settings?
        let defaultSteps: [StepReference]?
        let parameters: [Parameter]
        let outputLimit: Int?
    }

    mutating func decodeTop(_ reader: inout MappingReader) -> Top {
        let top = Top(
            name: text(reader.take(.name)), description: text(reader.take(.description)),
            defaults: decodeDefaults(reader.take(.defaults)), defaultSteps: defaultSteps(reader.take(.default)),
            parameters: parameters(reader.take(.params)), outputLimit: size(reader.take(.outputLimit)))
        document.parameterNames = Set(top.parameters.map(\.name))
        document.parameters = top.parameters
        let own = secrets(reader.take(.secrets))
        reportNamesakes(top.parameters, own)
        takeSecrets(own)
        takePools(pools(reader.take(.pools)))
        declareTemplates(reader.take(.templates))
        return top
    }

    /// The steps and hooks of a file.
    mutating func decodeBody(_ reader: borrowing MappingReader, of group: NodeIndex) {
        if let steps = reader.take(.steps) {
            decodeMembers(steps, of: group)
            decodeHooks(reader, of: group)
        } else {
            report(
                .missingKey, "the workflow has no `steps`", at: reader.firstKeyRange,
                fix: .init("add `steps:` with a step below it"))
        }
        reportUnusedTemplates()
        document.makeCalls?.report(to: &self)
    }

    /// `default`: the steps and groups that run when none is named, empty if the steps are listed then; nil if the file
    /// has no valid `default`.
    mutating func defaultSteps(_ entry: MappingReader.Entry?) -> [StepReference]? {
        guard let entry else { return nil }
        let expected = "a list of ids, or `list`"
        if entry.value.kind == .mapping, entry.value.count > 0 {
            reportType(
                entry, expected: expected, fix: replacing(entry.key, by: "defaults", "did you mean `defaults`?"))
            return nil
        }
        if entry.value.isText("list") || entry.value.kind == .sequence && entry.value.count == 0 { return [] }
        let steps = items(entry, expected: expected, mayBeAlone: false).map {
            StepReference(name: $0.text, range: $0.range)
        }
        return steps.isEmpty ? nil : steps
    }

    private mutating func decodeDefaults(_ entry: MappingReader.Entry?) -> Settings? {
        guard let entry, var reader = mapping(entry) else { return nil }
        reportStrayKeys(&reader, in: .defaults)
        return decodeSettings(reader, in: .defaults)
    }

    /// Reports names that are both: parameters and secrets are variables of a step's environment.
    private mutating func reportNamesakes(_ parameters: [Parameter], _ secrets: [Secret]) {
        guard !secrets.isEmpty, !parameters.isEmpty else { return }
        let secrets = Dictionary(secrets.map { ($0.name, $0.range) }) { first, _ in first }
        for parameter in parameters {
            guard let secret = secrets[parameter.name] else { continue }
            report(
                .conflictingKeys, "`\(parameter.name)` is a secret and a parameter", at: secret,
                notes: [.init("the parameter is declared here", at: parameter.range)],
                fix: .init("rename one of the two"))
        }
    }

    private mutating func decodeVersion(_ reader: inout MappingReader) {
        guard let entry = reader.take(.version) else {
            let start = reader.insertionPoint(in: file)
            report(
                .formatVersion, "the workflow does not say its format version", at: reader.firstKeyRange,
                fix: .init(
                    "add `version: 1`", edits: start.map { [.init(range: $0, replacement: "version: 1\n")] } ?? []))
            return
        }
        let value = entry.value
        guard value.kind != .invalid, !(value.isPlain && value.isText("1")) else { return }
        if value.type == .int {
            report(
                .formatVersion, "format version \(value.text) is not known, the newest is 1", at: value,
                fix: .init("write `version: 1`, or use a newer flowrun"))
        } else {
            report(
                .formatVersion, "expected the format version 1, found \(found(value))", at: entry.place,
                fix: .init(
                    "write `version: 1`",
                    edits: value.kind == .scalar ? [edit(value, to: "1")] : []))
        }
    }
}

extension MappingReader {
    /// The place of a finding about the mapping as a whole.
    var firstKeyRange: SourceRange { node.entries.lazy.map(\.key.range).first { _ in true } ?? node.range }

    /// The place for a line before all keys; nil in a mapping with braces.
    func insertionPoint(in file: SourceFile) -> SourceRange? {
        let start = firstKeyRange.start
        guard node.range.start == start, file.location(at: Int(start)).column == 1 else { return nil }
        return SourceRange(start: start, end: start)
    }
}

// A finding that was reached through an alias belongs at the alias, because the anchor may be right where it is.
extension WorkflowDecoder {
    /// The alias in the current member that leads to a place outside of the member; nil for a place inside of it.
    func alias(to range: SourceRange) -> YAMLNode? {
        guard let member, range.start < member.key.range.start || range.end > member.value.range.end else { return nil }
        return Self.alias(in: member.value, to: range)
    }

    private static func alias(in node: YAMLNode, to range: SourceRange) -> YAMLNode? {
        if node.isAlias {
            let content = node.contentRange
            return content.start <= range.start && range.end <= content.end ? node : nil
        }
        for element in node.elements {
            if let alias = alias(in: element, to: range) { return alias }
        }
        for (key, value) in node.entries {
            if let alias = alias(in: key, to: range) ?? alias(in: value, to: range) { return alias }
        }
        return nil
    }

    /// Reports a mistake in the content of an alias at the alias, unless it has been reported at the anchor.
    mutating func report(
        _ code: DiagnosticCode, _ message: String, at range: SourceRange, through alias: YAMLNode,
        severity: Diagnostic.Severity, notes: [Diagnostic.Note], fix: Diagnostic.Fix?
    ) {
        let isKnown = findings.contains(since: 0) { finding in
            finding.code == code && finding.message == message
                && (finding.range == range || finding.range == alias.range)
        }
        guard !isKnown else { return }
        findings.add(severity) {
            Diagnostic(
                code, message, in: file, at: alias.range, severity: severity,
                notes: [.init("the alias refers to this", at: range)] + notes,
                fix: fix.map { .init($0.description) })
        }
    }
}

// Keys that only hold anchors.
extension WorkflowDecoder {
    /// The rows of `x-…` keys without those that aliases in other places stand for, one range for each row.
    func unreadRows(below root: YAMLNode, _ rowCount: Int) -> [Range<Int>] {
        var unread = Set(document.unreadRows.joined())
        var next = (0..<rowCount).filter { !unread.contains($0) }
        while let row = next.popLast() {
            let node = root.node(atRow: row)
            guard node.isAlias else { continue }
            for content in node.contentRow..<node.contentEnd where unread.remove(content) != nil {
                next.append(content)
            }
        }
        return unread.map { $0..<$0 + 1 }
    }
}

/// The decoder's notes on the one document that it reads; a used file has its own.
struct DecodedDocument {
    /// True for values that expressions made.
    let isComputed: Bool
    /// True if it contains `${{` anywhere; only then are the next five properties read.
    let hasExpressions: Bool
    /// Rows of `run: text` values, in which `${{` is an error of its own kind.
    var scriptRows: Set<Int> = []
    /// Subtrees that were refused as a whole; nothing more is reported in them.
    var refusedRows: [Range<Int>] = []
    /// The values of keys that only hold anchors.
    var unreadRows: [Range<Int>] = []
    /// Results of `template`, by the row of the content: an anchor is read once.
    var texts: [Int: Template] = [:]
    /// Rows of values that are one expression as a whole.
    var wholeRows: Set<Int> = []
    /// The names that the top's `secrets` declare; nil if they are unknown.
    var secretNames: Set<String>? = []
    /// The names that the top's `params` declare.
    var parameterNames: Set<String> = []
    /// Those that a step reads where it is, without its own: the top's, and those of the template around it.
    var parameters: [Parameter] = []
    /// The names that the `params` of steps declare.
    var stepParameterNames: Set<String> = []
    /// True if the file contains `FLOWRUN_OUTPUT` anywhere; only then are scripts searched for it.
    let mentionsOutputFile: Bool
    /// nil if the file does not contain `make` anywhere.
    var makeCalls: MakeCalls?
    /// In the order of the document.
    var templates: [DeclaredTemplate] = []
    /// The index of each name in `templates`.
    var templatePositions: [String: Int] = [:]
    var usedTemplates: Set<String> = []
    /// The file's folder, relative to that of the first file; empty if they are the same.
    let folder: String
    let file: SourceFile

    init(_ file: SourceFile, folder: String, isComputed: Bool = false) {
        self.isComputed = isComputed
        hasExpressions = !isComputed && WorkflowDecoder.mentionsExpression(file)
        mentionsOutputFile = WorkflowDecoder.mentionsOutputFile(file)
        makeCalls = MakeCalls(in: file)
        self.file = file
        self.folder = folder
    }
}

/// One of `templates`: a body that groups of the same file use by its name.
struct DeclaredTemplate {
    let name: String
    let key: YAMLNode
    let value: YAMLNode
}

/// Access to the files that a workflow uses, relative to its own folder. Decoding depends on nothing else outside.
package struct WorkflowFiles: Sendable {
    package enum Answer: Sendable {
        /// `identity` is the same for all paths to one file; `name` is shown in places.
        case found(identity: String, name: String, bytes: [UInt8])
        /// Outside of the folder in which files may be used.
        case outside
        /// A message that says what cannot be done with it, and why.
        case unreadable(String)
    }

    /// The identity of the workflow's own file; nil if nothing can use it.
    let identity: @Sendable () -> String?
    /// Reads the file at a path relative to the workflow's folder.
    let read: @Sendable (String) -> Answer

    package init(
        identity: @escaping @Sendable () -> String?, read: @escaping @Sendable (String) -> Answer
    ) {
        self.identity = identity
        self.read = read
    }

    /// Returns the same files with other bytes for one of them.
    package func replacing(_ name: String, by bytes: [UInt8]) -> WorkflowFiles {
        WorkflowFiles(identity: identity) { path in
            let answer = read(path)
            guard case .found(let identity, name, _) = answer else { return answer }
            return .found(identity: identity, name: name, bytes: bytes)
        }
    }

    /// For a text that has no folder.
    package static let none = WorkflowFiles(identity: { nil }) { _ in
        .unreadable("there is no folder to look for it in")
    }
}
