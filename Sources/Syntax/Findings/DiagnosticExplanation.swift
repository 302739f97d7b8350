/// The long form of a kind of finding, for `flowrun explain`.
package struct DiagnosticExplanation: Sendable {
    /// The mistake, in a few words.
    package let title: String
    /// The meaning, in whole sentences, and why flowrun refuses it.
    package let meaning: String
    /// A file that has the finding; empty if no text can show it.
    package let example: String
    /// The way to fix it.
    package let remedy: String

    /// Parses a text file of `Explanations`.
    fileprivate init(_ text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let end = lines.lastIndex { $0.hasPrefix("Fix: ") } ?? lines.endIndex
        let start = lines.firstIndex(of: "Example:") ?? end
        title = String(lines[0])
        meaning = lines[..<start].dropFirst(2).dropLast().joined(separator: "\n")
        example = lines[start..<end].dropFirst(2).dropLast().map { $0.dropFirst(4) }.joined(separator: "\n")
        remedy = String(lines[end...].joined(separator: "\n").dropFirst("Fix: ".count).dropLast())
    }
}

extension DiagnosticCode {
    /// The mistake, in a few words.
    package var title: String { details.title }

    /// The parts of the long form.
    package var details: DiagnosticExplanation { DiagnosticExplanation(text) }

    /// The meaning of the finding, an example, and the fix, as text of several paragraphs.
    package var explanation: String { "\(rawValue): \(text)" }

    /// The file of `Explanations` that is named after the code.
    private var text: String { String(decoding: bytes, as: UTF8.self) }

    private var bytes: [UInt8] {
        switch self {
        case .unreadableFile: PackageResources.FR0101_txt
        case .fileTooLarge: PackageResources.FR0102_txt
        case .invalidEncoding: PackageResources.FR0103_txt
        case .controlCharacter: PackageResources.FR0104_txt
        case .yamlSyntax: PackageResources.FR0105_txt
        case .duplicateKey: PackageResources.FR0106_txt
        case .tagRefused: PackageResources.FR0107_txt
        case .mergeKeyRefused: PackageResources.FR0108_txt
        case .severalDocuments: PackageResources.FR0109_txt
        case .nestingTooDeep: PackageResources.FR0110_txt
        case .aliasBudget: PackageResources.FR0111_txt
        case .unknownAnchor: PackageResources.FR0112_txt
        case .recursiveAlias: PackageResources.FR0113_txt
        case .emptyDocument: PackageResources.FR0114_txt
        case .yamlVersion: PackageResources.FR0115_txt
        case .keyNotScalar: PackageResources.FR0116_txt
        case .unknownKey: PackageResources.FR0201_txt
        case .foreignKey: PackageResources.FR0202_txt
        case .unknownDependency: PackageResources.FR0203_txt
        case .missingKey: PackageResources.FR0204_txt
        case .wrongType: PackageResources.FR0205_txt
        case .invalidValue: PackageResources.FR0206_txt
        case .invalidID: PackageResources.FR0207_txt
        case .notSupportedYet: PackageResources.FR0208_txt
        case .conflictingKeys: PackageResources.FR0209_txt
        case .expressionInScript: PackageResources.FR0210_txt
        case .invalidEnvironmentName: PackageResources.FR0211_txt
        case .reservedEnvironmentName: PackageResources.FR0212_txt
        case .fanOutTooLarge: PackageResources.FR0213_txt
        case .duplicateItem: PackageResources.FR0214_txt
        case .unknownAxis: PackageResources.FR0215_txt
        case .emptyList: PackageResources.FR0216_txt
        case .repeatedDependency: PackageResources.FR0217_txt
        case .formatVersion: PackageResources.FR0218_txt
        case .lookAlike: PackageResources.FR0219_txt
        case .dependencyInsideGroup: PackageResources.FR0220_txt
        case .undeclaredSecret: PackageResources.FR0221_txt
        case .invalidPattern: PackageResources.FR0222_txt
        case .unknownStep: PackageResources.FR0223_txt
        case .unusableFile: PackageResources.FR0224_txt
        case .unknownTemplate: PackageResources.FR0225_txt
        case .unusedTemplate: PackageResources.FR0226_txt
        case .wrongArgument: PackageResources.FR0227_txt
        case .makeJobs: PackageResources.FR0228_txt
        case .dependencyCycle: PackageResources.FR0301_txt
        case .sharedValueCycle: PackageResources.FR0302_txt
        case .usesCycle: PackageResources.FR0303_txt
        case .passedFailure: PackageResources.FR0304_txt
        case .deadlineExceeded: PackageResources.FR0305_txt
        case .dependencyAcrossHook: PackageResources.FR0310_txt
        case .coveredMutex: PackageResources.FR0312_txt
        case .poolExceeded: PackageResources.FR0313_txt
        case .unknownPool: PackageResources.FR0314_txt
        case .unusedPool: PackageResources.FR0315_txt
        case .expressionSyntax: PackageResources.FR0401_txt
        case .expressionNotAllowed: PackageResources.FR0402_txt
        case .unknownName: PackageResources.FR0403_txt
        case .unorderedRead: PackageResources.FR0404_txt
        case .possiblyAbsent: PackageResources.FR0405_txt
        case .valueType: PackageResources.FR0406_txt
        case .notKnownHere: PackageResources.FR0407_txt
        }
    }
}
