import ArgumentParser
import Testing

@testable import FlowrunCommands

/// The fast way of reading a command line may only differ from the argument parser in its speed.
@Suite struct PlainArgumentsTests {
    @Test(arguments: [
        ["a.yml"], ["run", "a.yml"], ["./a"], ["a.yml", "-j", "2"], ["-j2", "a.yml"], ["--jobs", "12", "dir/a.yml"],
        ["--log", "json", "a.yml"], ["run", "-j", "1", "a.yml", "--log", "quiet"],
    ])
    func `a plain command line means the same to both readers`(arguments: [String]) throws {
        let plain = try #require(PlainArguments.request(arguments))
        let command = try #require(try FlowrunCommand.parseAsRoot(arguments) as? RunCommand)
        #expect(try command.request() == plain)
    }

    @Test(arguments: [
        [], ["check", "a.yml"], ["a.yml", "step"], ["name"], ["a.yml", "-j", "0"], ["a.yml", "-j"],
        ["a.yml", "-j", "x"],
        ["a.yml", "--log", "xml"], ["--help"], ["-C", "x", "a.yml"], ["a.yml", "-j", "1", "-j", "2"], ["-"],
        ["a.yml", "-j", "007"], ["a.yml", "--version"], ["-j=2", "a.yml"],
    ])
    func `everything else is left to the argument parser`(arguments: [String]) {
        #expect(PlainArguments.request(arguments) == nil)
    }
}
