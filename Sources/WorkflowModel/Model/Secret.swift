package import SourceDiagnostics

/// One of `secrets`: a value that no output ever shows.
package struct Secret: Sendable {
    package enum Source: Sendable, Hashable {
        /// A variable of flowrun's own environment.
        case environment(String)
        /// The text of a file, without the line end at its end.
        case file(String)
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
