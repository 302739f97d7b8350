internal import SourceDiagnostics
internal import WorkflowModel

// Where in its file a row is defined.
extension Plan {
    /// `FILE:LINE` of a row's definition.
    package func place(of row: PlanIndex) -> String { "\(file(of: row)):\(line(of: row))" }

    /// The name of the file that has a row's definition.
    package func file(of row: PlanIndex) -> String {
        workflow.file.file(at: workflow.range(of: nodes[row].definition).lowerOffset).name
    }

    /// The line of a row's definition.
    package func line(of row: PlanIndex) -> Int {
        workflow.file.line(at: workflow[nodes[row].definition].range.lowerOffset)
    }
}
