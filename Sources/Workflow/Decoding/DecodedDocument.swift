internal import Syntax

/// What the decoder notes about the one document that it reads; a file that is used has its own.
struct DecodedDocument {
    /// Whether it says `${{` anywhere; only then are the four below read.
    let hasExpressions: Bool
    /// Rows of `run: text` values, where `${{` is an error of its own kind.
    var scriptRows: Set<Int> = []
    /// Subtrees that were refused as a whole, and in which nothing more is reported.
    var refusedRows: [Range<Int>] = []
    /// What `template` has read, by the row of the content: an anchor is read once.
    var texts: [Int: Template] = [:]
    /// Rows of values that are one expression as a whole.
    var wholeRows: Set<Int> = []
    /// What the top's `secrets` declare; nil where that cannot be told.
    var secretNames: Set<String>? = []
    /// What the top's `params` declare.
    var parameterNames: Set<String> = []
    /// Whether the file says `FLOWRUN_OUTPUT` anywhere; only then are scripts searched for it.
    let mentionsOutputFile: Bool
    /// In the order of the document.
    var templates: [DeclaredTemplate] = []
    /// The index of each name in `templates`.
    var templatePositions: [String: Int] = [:]
    var usedTemplates: Set<String> = []
    /// The file's folder, relative to that of the first file; empty for the same.
    let folder: String
    let file: SourceFile

    init(_ file: SourceFile, folder: String) {
        hasExpressions = WorkflowDecoder.mentionsExpression(file)
        mentionsOutputFile = WorkflowDecoder.mentionsOutputFile(file)
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

/// The files that a workflow uses, as they are found from its own folder. All that decoding asks of the world.
package struct WorkflowFiles: Sendable {
    package enum Answer: Sendable {
        /// `identity` is the same for all ways that lead to one file; `name` is shown in places.
        case found(identity: String, name: String, bytes: [UInt8])
        /// Beyond the folder in which files may be used.
        case outside
        /// What cannot be done with it, and why.
        case unreadable(String)
    }

    /// The identity of the workflow's own file; nil where nothing can use that.
    let identity: @Sendable () -> String?
    /// Reads the file at a path that counts from the workflow's folder.
    let read: @Sendable (String) -> Answer

    package init(
        identity: @escaping @Sendable () -> String?, read: @escaping @Sendable (String) -> Answer
    ) {
        self.identity = identity
        self.read = read
    }

    /// The same document with other bytes for one file.
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
