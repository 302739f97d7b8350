internal import ArgumentParser
internal import Glibc

/// The program.
package enum Flowrun {
    /// Carries out a command line and ends the process with its status.
    package static func main(_ arguments: [String]) -> Never {
        StandardDescriptors.keep()
        if let request = PlainArguments.request(arguments) { exit(Run(request)().rawValue) }
        do {
            if let script = CompletionScript.requested(by: arguments) {
                try Answer.give(script)
                exit(ExitStatus.success.rawValue)
            }
            var command = try FlowrunCommand.parseAsRoot(arguments)
            try command.run()
            exit(ExitStatus.success.rawValue)
        } catch {
            FlowrunCommand.exit(withError: error)
        }
    }
}
