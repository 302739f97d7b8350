/// How much one document may ask for, so that no file makes the program slow or large.
package enum YAMLLimits {
    /// Collections inside each other, the outermost counted as one.
    package static let depth = 64
    /// Nodes that aliases stand for, as a multiple of the nodes the file spells out.
    package static let aliasFactor = 10
    /// What aliases may stand for however small the file is.
    package static let aliasMinimum = 10_000
    /// Findings about single bytes, after which no more are looked for; a binary file is full of them.
    static let byteFindings = 5
}
