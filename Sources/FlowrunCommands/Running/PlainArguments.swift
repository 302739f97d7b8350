/// Reads the plainest command lines, `flowrun [run] FILE` with nothing but a number of jobs and a kind of log, without
/// the argument parser, which takes longer to get ready than the rest of a small run takes (DESIGN section 8). Anything
/// else, any mistake included, is the parser's to read and to explain; a test holds the two against each other.
package enum PlainArguments {
    /// nil where the arguments are not of the plainest form. `arguments` are those after the program's name.
    package static func request(_ arguments: [String]) -> RunRequest? {
        var rest = arguments[...]
        if rest.first == "run" { rest.removeFirst() }
        var file: String?
        var jobs: Int?
        var log = RunRequest.Log.text
        while let argument = rest.popFirst() {
            switch argument {
            case "-j", "--jobs":
                guard jobs == nil, let number = rest.popFirst().flatMap(jobCount) else { return nil }
                jobs = number
            case "--log":
                guard let kind = rest.popFirst().flatMap(RunRequest.Log.init) else { return nil }
                log = kind
            case _ where argument.hasPrefix("-j") && argument.utf8.count > 2:
                guard jobs == nil, let number = jobCount(String(argument.dropFirst(2))) else { return nil }
                jobs = number
            default:
                // A word without a dot or slash may be a command, or a mistyped one.
                guard file == nil, !argument.hasPrefix("-"), argument.utf8.contains(where: { $0 == 0x2E || $0 == 0x2F })
                else { return nil }
                file = argument
            }
        }
        guard let file else { return nil }
        var request = RunRequest(file: file)
        request.jobs = jobs
        request.log = log
        return request
    }

    private static func jobCount(_ text: String) -> Int? {
        guard text.utf8.count < 7, let number = Int(text), number >= 1, String(number) == text else { return nil }
        return number
    }
}
