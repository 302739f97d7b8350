internal import Planning
internal import RunLog

/// What a row has to say beside its outcome.
struct RowNote {
    /// Who asked for its end; of the whole run at the root.
    var request: String?
    /// Why it did not succeed. Before its end: how its work failed.
    var cause: Cause?
    /// Of a row that was not run: the row to blame, so that a chain of a thousand victims stays two links long.
    var blamed: PlanIndex?
    /// For a row that was not run: the harm of everything that ruled it out.
    var roots: Harm = []
    var result = RowResult()
    /// The end of what was written by the command of `vars` that failed it.
    var tail: OutputTail?
}
