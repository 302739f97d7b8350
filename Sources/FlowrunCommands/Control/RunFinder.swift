internal import ArgumentParser
internal import Glibc
internal import RunControl

/// Which runs a command is about: where their state is, and which of several is meant.
struct RunFinder: ParsableArguments {
    @Option(
        help: ArgumentHelp("The workflow file, where the state directory has runs of several.", valueName: "path"),
        completion: .file())
    var file: String?

    @Option(
        help: ArgumentHelp("Where the state of runs is kept (default: .flowrun beside the file).", valueName: "folder"),
        completion: .directory)
    var stateDir: String?

    @Option(
        name: .customShort("C"), help: ArgumentHelp("Change to a folder first.", valueName: "folder"),
        completion: .directory)
    var folder: String?

    /// The state directory, and the workflow's name in it; nil where no file was named. Changes the current folder where
    /// that is asked for.
    func place() throws -> (directory: StateDirectory, workflow: String?) {
        if let folder, chdir(folder) != 0 {
            throw ValidationError("cannot change to `\(folder)`: \(String(cString: strerror(errno)).lowercased())")
        }
        let place = StatePlace(file: file, explicit: stateDir)
        for candidate in place.candidates {
            do {
                return (try StateDirectory.existing(candidate.path), place.name)
            } catch  where error.isAbsence {
                continue
            } catch {
                throw failed("\(error.message)")
            }
        }
        throw failed("no run has left anything here: there is no `\(place.candidates[0].path)`")
    }

    /// The run that is meant: the named one; that of the workflow file; the only live one; that of the step which asks.
    /// Ends the command where it cannot be told.
    func liveRun(_ named: String?, in directory: StateDirectory, of workflow: String?) throws -> String {
        let live = ControlClient.liveRuns(in: directory)
        if let named {
            guard live.contains(named) else {
                throw failed("no live run `\(named)` in `\(directory.path)`" + list(live))
            }
            return named
        }
        if let workflow {
            guard let holder = RunLock.holder(of: workflow, in: directory), live.contains(holder.run) else {
                throw failed("`\(file ?? workflow)` is not being run, says `\(directory.path)`")
            }
            return holder.run
        }
        if let own = environmentVariable("FLOWRUN_RUN"), live.contains(own) { return own }
        guard let only = live.first else { throw failed("no live run in `\(directory.path)`") }
        guard live.count == 1 else {
            throw ValidationError("several runs are live in `\(directory.path)`: name one" + list(live))
        }
        return only
    }

    private func list(_ runs: [String]) -> String { runs.isEmpty ? "" : "; live: " + runs.joined(separator: ", ") }
}

/// Ends the command with 1 after a word on standard error.
func failed(_ message: String) -> ExitCode {
    TerminalText.standardError.say(message)
    return ExitCode(ExitStatus.failure.rawValue)
}
