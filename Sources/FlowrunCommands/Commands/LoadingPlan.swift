internal import ArgumentParser
internal import WorkflowPlanning

/// The plan of a file; shows all findings and ends the command where there is none.
func loadPlan(_ file: String) throws -> Plan {
    let loaded = WorkflowLoader(file)
    TerminalText.standardError.show(loaded.diagnostics)
    guard let plan = loaded.plan else { throw ExitCode(ExitStatus.invalid.rawValue) }
    return plan
}
