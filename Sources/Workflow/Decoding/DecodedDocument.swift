internal import Syntax

/// The decoder's notes on the one document that it reads; a used file has its own.
struct DecodedDocument {
    /// True if it contains `${{` anywhere; only then are the next four properties read.
    let hasExpressions: Bool
    /// Rows of `run: text` values, in which `${{` is an error of its own kind.
    var scriptRows: Set<Int> = []
    /// Subtrees that were refused as a whole; nothing more is reported in them.
    var refusedRows: [Range<Int>] = []
    /// Results of `template`, by the row of the content: an anchor is read once.
    var texts: [Int: Template] = [:]
    /// Rows of values that are one expression as a whole.
    var wholeRows: Set<Int> = []
    /// The names that the top's `secrets` declare; nil if they are unknown.
    var secretNames: Set<String>? = []
    /// The names that the top's `params` declare.
    var parameterNames: Set<String> = []
    /// True if the file contains `FLOWRUN_OUTPUT` anywhere; only then are scripts searched for it.
    let mentionsOutputFile: Bool
    /// In the order of the document.
    var templates: [DeclaredTemplate] = []
    /// The index of each name in `templates`.
    var templatePositions: [String: Int] = [:]
    var usedTemplates: Set<String> = []
    /// The file's folder, relative to that of the first file; empty if they are the same.
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
