internal import Running

/// The steps that a run would take over, as far as that is known before it starts.
struct ExpectedResume {
    /// nil if there is none to resume.
    let run: String?
    /// The warnings of such a run.
    let notes: [String]
    /// By id.
    let steps: [String: ResumeForecast]
}
