/// The stable code of a kind of finding, `FR0123`. A code is never given a second meaning.
///
/// FR01xx: file and YAML. FR02xx: keys, values and names. FR03xx: the graph.
/// FR04xx: expressions.
package enum DiagnosticCode: String, CaseIterable, Sendable {
    // File and YAML
    case unreadableFile = "FR0101"
    case fileTooLarge = "FR0102"
    case invalidEncoding = "FR0103"
    case controlCharacter = "FR0104"
    case yamlSyntax = "FR0105"
    case duplicateKey = "FR0106"
    case tagRefused = "FR0107"
    case mergeKeyRefused = "FR0108"
    case severalDocuments = "FR0109"
    case nestingTooDeep = "FR0110"
    case aliasBudget = "FR0111"
    case unknownAnchor = "FR0112"
    case recursiveAlias = "FR0113"
    case emptyDocument = "FR0114"
    case yamlVersion = "FR0115"
    case keyNotScalar = "FR0116"

    // Keys, values and names
    case unknownKey = "FR0201"
    case foreignKey = "FR0202"
    case unknownDependency = "FR0203"
    case missingKey = "FR0204"
    case wrongType = "FR0205"
    case invalidValue = "FR0206"
    case invalidID = "FR0207"
    case notSupportedYet = "FR0208"
    case conflictingKeys = "FR0209"
    case expressionInScript = "FR0210"
    case invalidEnvironmentName = "FR0211"
    case reservedEnvironmentName = "FR0212"
    case fanOutTooLarge = "FR0213"
    case duplicateItem = "FR0214"
    case unknownAxis = "FR0215"
    case emptyList = "FR0216"
    case repeatedDependency = "FR0217"
    case formatVersion = "FR0218"
    case lookAlike = "FR0219"
    case dependencyInsideGroup = "FR0220"
    case undeclaredSecret = "FR0221"
    case invalidPattern = "FR0222"
    case unknownStep = "FR0223"

    // The graph
    case dependencyCycle = "FR0301"
    case sharedValueCycle = "FR0302"
    case dependencyAcrossHook = "FR0310"
    case coveredMutex = "FR0312"
    case poolExceeded = "FR0313"
    case unknownPool = "FR0314"
    case unusedPool = "FR0315"

    // Expressions and the values they read
    case expressionSyntax = "FR0401"
    case expressionNotAllowed = "FR0402"
    case unknownName = "FR0403"
    case unorderedRead = "FR0404"
    case possiblyAbsent = "FR0405"
    case valueType = "FR0406"
    case notKnownHere = "FR0407"
}
