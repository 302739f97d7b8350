package import SourceDiagnostics

/// One of `outputs`: a value that others may read once the step or group has ended.
package struct OutputDeclaration: Sendable {
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        case string, int, bool, list
        /// Any JSON value.
        case json
    }

    package enum Source: Sendable {
        /// What the step writes to the file `$FLOWRUN_OUTPUT`.
        case file(Kind)
        /// What the step writes to standard output, without the line end at its end.
        case standardOutput(Kind)
        /// Of a group or the workflow.
        case expression(Template)
    }

    package let name: String
    package let source: Source
    package let range: SourceRange

    package init(name: String, source: Source, range: SourceRange) {
        self.name = name
        self.source = source
        self.range = range
    }
}
