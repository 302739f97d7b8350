package import Basics

extension JSONWriter {
    /// What the log's record of an event leaves out and reading the event back needs, in fields of its own. Not the
    /// bytes of an output.
    package mutating func rest(of kind: RunEvent.Kind) {
        switch kind {
        case .stepStarted(let step): if let view = step.view { field("view", view.rawValue) }
        case .runFinished(let run): if !run.errors.isEmpty { failures(run.errors) }
        case .stepFinished(let step): if let definition = step.definition { field("definition", definition) }
        case .stepRestored(let step):
            field("definition", step.definition)
            if let output = step.standardOutput { field("stdout_base64", Base64.text(of: output)) }
        default: break
        }
    }

    private mutating func failures(_ failures: [RunFinished.Failure]) {
        array("failures") { json in
            for failure in failures {
                json.object { json in
                    json.field("script", failure.script)
                    json.field("output_bytes", failure.outputBytes)
                    guard String(validating: failure.outputTail, as: UTF8.self) == nil else { return }
                    json.field("tail_base64", Base64.text(of: failure.outputTail))
                }
            }
        }
    }
}
