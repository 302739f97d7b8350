import CLinux
import FlowrunCommands
import Glibc
import Testing

/// The guess, before anything is parsed, whether a command line needs a guard.
struct EarlyGuardTests {
    private func seemsToRun(_ words: String...) -> Bool {
        let copies = words.map { strdup($0) }
        defer { copies.forEach { free($0) } }
        return clinux_seems_to_run(Int32(words.count), copies) != 0
    }

    @Test(arguments: Command.allCases) func `of all commands only run gets one`(command: Command) {
        #expect(seemsToRun("flowrun", command.rawValue) == (command == .run))
        #expect(seemsToRun("/usr/bin/flowrun", "-C", "folder", command.rawValue, "x.yml") == (command == .run))
    }

    @Test func `what runs without the word gets one`() {
        #expect(seemsToRun("flowrun"))
        #expect(seemsToRun("./flowrun", "workflow.yml", "--log", "json"))
        #expect(seemsToRun("flowrun", "test", "--", "--help"))
    }

    @Test(arguments: ["--version", "--help", "-h", "--dry-run", "__complete"])
    func `what only answers gets none`(word: String) {
        #expect(!seemsToRun("flowrun", word))
    }

    @Test func `a program of another name gets none`() {
        #expect(!seemsToRun("/build/flowrunPackageTests.xctest", "--filter", "x"))
        #expect(!seemsToRun())
    }
}
