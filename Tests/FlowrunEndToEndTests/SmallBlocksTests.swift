import FlowrunTestSupport
import Foundation
import Testing

/// The program's own small blocks of memory, linked to a program that does nothing but use them.
@Suite struct SmallBlocksTests {
    private static let wrapped = ["malloc", "free", "calloc", "realloc", "posix_memalign", "malloc_usable_size"]

    private func run(_ words: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = words
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "\(words)")
        return String(decoding: bytes, as: UTF8.self)
    }

    private func program(in test: FlowrunTest) throws -> String {
        let sources = ["Tests/Scripts/small_blocks.c", "Sources/CLinux/SmallBlocks.c"]
        let path = test.path("blocks")
        _ = try run(
            ["cc", "-O1", "-pthread", "-o", path] + Self.wrapped.map { "-Wl,--wrap=\($0)" }
                + sources.map { "\(PackageFolder.path)/\($0)" })
        return path
    }

    @Test func `a block keeps what is written to it, whichever thread frees which`() throws {
        let test = try FlowrunTest()
        #expect(try run([program(in: test), "all"]) == "ok\n")
    }

    @Test func `where no gigabyte of addresses may be had, all blocks are the C library's`() throws {
        let test = try FlowrunTest()
        #expect(try run(["sh", "-c", #"ulimit -v 900000; exec "$0""#, program(in: test)]) == "ok\n")
    }

    @Test func `a release and the tests wrap the same functions`() throws {
        let makefile = try String(contentsOfFile: "\(PackageFolder.path)/Makefile", encoding: .utf8)
        let manifest = try String(contentsOfFile: "\(PackageFolder.path)/Package.swift", encoding: .utf8)
        #expect(makefile.contains("$(foreach name,\(Self.wrapped.joined(separator: " ")),"))
        #expect(manifest.contains("[\(Self.wrapped.map { #""\#($0)""# }.joined(separator: ", "))]"))
    }
}
