/// Why a step runs again that the resumed run knows.
package enum RerunReason: String, Sendable, Hashable, CaseIterable {
    /// It had not ended, or not in a round that counts.
    case unfinished
    /// It had not succeeded.
    case outcome
    /// `--from` names it, or a group around it.
    case asked
    /// A hook has started since, and counts as undoing it.
    case undone
    /// Something that it needs has run again.
    case upstream
    /// What it does, or what it needs, is not the same.
    case definition
    /// What it has left was not kept: it holds a secret, or was in `FLOWRUN_TEMP`.
    case result
    /// What it has left was kept, and was changed since then.
    case damage

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
