/// The long form of a kind of finding, for `flowrun explain`.
package struct DiagnosticExplanation: Sendable {
    /// A few words: what is wrong.
    package let title: String
    /// Whole sentences: what it means and why flowrun refuses it.
    package let meaning: String
    /// A file that gives the finding; empty where no text can show it.
    package let example: String
    /// What to do about it.
    package let remedy: String

    init(_ title: String, _ meaning: String, example: String = "", remedy: String) {
        self.title = title
        self.meaning = meaning
        self.example = example
        self.remedy = remedy
    }
}

extension DiagnosticCode {
    /// What is wrong, in a few words.
    package var title: String { details.title }

    /// What the finding means, an example, and the way out, as text of several paragraphs.
    package var explanation: String {
        var text = "\(rawValue): \(title)\n\n\(details.meaning)\n"
        if !details.example.isEmpty {
            let lines = details.example.split(separator: "\n", omittingEmptySubsequences: false)
            text += "\nExample:\n\n" + lines.map { $0.isEmpty ? "" : "    \($0)" }.joined(separator: "\n") + "\n"
        }
        return text + "\nFix: \(details.remedy)\n"
    }

    /// The parts of the long form.
    package var details: DiagnosticExplanation {
        switch self {
        case .unreadableFile, .fileTooLarge, .invalidEncoding, .controlCharacter, .yamlSyntax, .duplicateKey,
            .tagRefused, .mergeKeyRefused, .severalDocuments, .nestingTooDeep, .aliasBudget, .unknownAnchor,
            .recursiveAlias, .emptyDocument, .yamlVersion, .keyNotScalar:
            textDetails
        case .unknownKey, .foreignKey, .missingKey, .wrongType, .invalidValue, .notSupportedYet, .conflictingKeys,
            .expressionInScript, .emptyList, .formatVersion, .lookAlike, .invalidPattern:
            keyDetails
        case .unknownDependency, .invalidID, .invalidEnvironmentName, .reservedEnvironmentName, .fanOutTooLarge,
            .duplicateItem, .unknownAxis, .repeatedDependency, .dependencyInsideGroup, .undeclaredSecret, .unknownStep,
            .dependencyCycle:
            nameDetails
        case .expressionSyntax, .expressionNotAllowed, .unknownName, .unorderedRead, .possiblyAbsent, .valueType,
            .notKnownHere:
            expressionDetails
        case .unusableFile, .unknownTemplate, .unusedTemplate, .wrongArgument, .usesCycle:
            useDetails
        case .sharedValueCycle, .dependencyAcrossHook, .passedFailure, .deadlineExceeded, .coveredMutex, .poolExceeded,
            .unknownPool, .unusedPool:
            graphDetails
        }
    }
}
