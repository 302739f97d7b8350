internal import Basics

extension RunStopping {
    private static let stepsNamed = 5

    /// Why the run ends, what is stopped for that, how long that may take, and what is to be done about it:
    /// `interrupted by SIGINT: build, test and 3 more have 10s to end, a second Ctrl-C kills them`.
    var words: String {
        guard let grace, !steps.isEmpty else { return cause.words }
        var text = LogText(isColored: false)
        text.add("\(cause.words): ")
        text.add(list: steps, limit: Self.stepsNamed)
        let isOne = steps.count == 1
        guard grace > .zero else {
            text.add(isOne ? " is killed" : " are killed")
            return text.buffer.text
        }
        text.add("\(isOne ? " has" : " have") \(Self.words(grace)) to end")
        if let again { text.add(", \(again) kills \(isOne ? "it" : "them")") }
        return text.buffer.text
    }

    private static func words(_ grace: Duration) -> String {
        grace < .seconds(1)
            ? "\(grace.components.attoseconds / 1_000_000_000_000_000)ms" : TimeText.wholeSeconds(grace)
    }

    /// What takes the grace away; nil where the run was not stopped by a signal.
    private var again: String? {
        switch source {
        case "SIGINT": "a second Ctrl-C"
        case let name where name.hasPrefix("SIG"): "a second signal"
        default: nil
        }
    }
}
