import Workflow

/// What is certain about the end of a step or group when another one starts.
struct ResultFacts: OptionSet, Sendable {
    let rawValue: UInt8

    static let ended = ResultFacts(rawValue: 1)
    /// With success, a tolerated failure or a skip.
    static let endedWell = ResultFacts(rawValue: 2)
    /// It was not skipped or ruled out, so that its own needs were met.
    static let started = ResultFacts(rawValue: 4)
    static let succeeded = ResultFacts(rawValue: 8)
    static let all: ResultFacts = [.ended, .endedWell, .started, .succeeded]

    /// What a met entry of `needs` says.
    init(_ kind: Need.Kind) {
        switch kind {
        case .ok: self = [.ended, .endedWell]
        case .success: self = .all
        case .failure: self = [.ended, .started]
        case .done: self = .ended
        }
    }

    init(rawValue: UInt8) { self.rawValue = rawValue }
}
