/// Why a step runs again that the resumed run knows.
package enum RerunReason: String, RecordWord, Sendable, Hashable {
    /// It had not ended, or not in a round that counts.
    case unfinished
    /// It had not succeeded.
    case outcome
    /// `--from` names it, or a group around it.
    case asked
    /// A hook that counts as undoing it has started since.
    case undone
    /// Something that it needs has run again.
    case upstream
    /// Its definition, or what it needs, has changed.
    case definition
    /// What it has left was not kept: it holds a secret, or was in `FLOWRUN_TEMP`.
    case result
    /// Its output was kept, and has changed since.
    case damage

    package var meaning: String? { words }

    /// As a clause.
    package var words: String {
        switch self {
        case .unfinished: "it had not finished"
        case .outcome: "it had not succeeded"
        case .asked: "--from asks for it"
        case .undone: "a hook has undone it"
        case .upstream: "something that it needs ran again"
        case .definition: "its definition or its needs have changed"
        case .result: "its result could not be kept"
        case .damage: "its kept output does not match its checksum"
        }
    }
}
