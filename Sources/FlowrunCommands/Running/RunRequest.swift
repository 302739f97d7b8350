package import Reporting

/// What one `flowrun run` is asked to do, however the command line was read.
package struct RunRequest: Sendable, Equatable {
    package enum Log: String, Sendable, CaseIterable {
        case text, json, quiet
    }

    package struct Assignment: Sendable, Equatable {
        package let name: String
        package let value: String
    }

    /// `-` is standard input.
    package var file: String
    /// Only what these need; empty for everything.
    package var targets: [String] = []
    /// nil: as many as there are cores.
    package var jobs: Int?
    package var environment: [Assignment] = []
    /// In the order of the command line.
    package var parameters: [Assignment] = []
    package var failFast = false
    package var timeout: Duration?
    package var log = Log.text
    package var logFile: String?
    package var output: OutputMode?
    package var progress = ProgressMode.auto
    package var color = ColorMode.auto
    /// Changed to before anything else, as in make.
    package var folder: String?
    package var isVerbose = false
    /// Nothing starts until `ctl resume`.
    package var isPaused = false
    /// nil: beside the workflow file.
    package var stateDirectory: String?
    package var keepsRecord = true

    package init(file: String) { self.file = file }
}
