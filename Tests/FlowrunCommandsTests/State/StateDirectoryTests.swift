import FlowrunTestSupport
import Foundation
import Testing

@testable import FlowrunCommands

/// Where state is kept, and what is refused as a place for it.
@Suite struct StateDirectoryTests {
    private func mode(of path: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    @Test(arguments: [
        ("a.yml", ".flowrun", "a.yml"), ("dir/a.yml", "dir/.flowrun", "a.yml"), ("/a.yml", "/.flowrun", "a.yml"),
        ("../x/a.yml", "../x/.flowrun", "a.yml"), ("-", ".flowrun", nil),
    ])
    func `state stands beside the workflow file`(file: String, path: String, name: String?) throws {
        let test = try FlowrunTest()
        let place = StatePlace(file: file, explicit: nil)
        #expect(place.preferred == StatePlace.Candidate(path: path, isInProject: true))
        #expect(place.name(in: try StateDirectory.made(test.path("any"))) == name)
    }

    @Test func `a link to a workflow file has its state beside the original`() throws {
        let test = try FlowrunTest(files: ["a/w.yml": ""])
        try FileManager.default.createSymbolicLink(atPath: test.path("l.yml"), withDestinationPath: "a/w.yml")
        try FileManager.default.createSymbolicLink(atPath: test.path("lost.yml"), withDestinationPath: "nowhere")
        let place = StatePlace(file: test.path("l.yml"), explicit: nil)
        #expect(place.preferred.path.hasSuffix("/a/.flowrun"))
        #expect(place.name(in: try StateDirectory.made(place.preferred.path)) == "w.yml")
        #expect(StatePlace(file: test.path("lost.yml"), explicit: nil).preferred.path == test.path(".flowrun"))
    }

    @Test func `the default folder hides from version control though it was asked for`() {
        for path in [".flowrun", "a/.flowrun/", "/b/.flowrun//"] {
            #expect(StatePlace(file: "w.yml", explicit: path).preferred.isInProject)
        }
        for path in ["state", ".flowrun/state", "/", "x.flowrun"] {
            #expect(!StatePlace(file: "w.yml", explicit: path).preferred.isInProject)
        }
    }

    @Test func `in a shared place, files of one name in two folders have two names`() throws {
        let test = try FlowrunTest()
        let directory = try StateDirectory.made(test.path("state"))
        let names = ["a/w.yml", "b/w.yml", "w.yml"].map {
            StatePlace(file: $0, explicit: directory.path).name(in: directory)
        }
        #expect(Set(names).count == 3)
        #expect(names.allSatisfy { $0?.hasPrefix("w.yml-") ?? false })
    }

    @Test func `a directory has one name for a file, whether it was asked for or is the default`() throws {
        let test = try FlowrunTest(files: ["a/w.yml": "", "b/w.yml": ""])
        let directory = try StateDirectory.made(test.path("a/.flowrun"))
        func name(_ file: String) -> String? {
            StatePlace(file: test.path(file), explicit: test.path("b/../a/.flowrun/")).name(in: directory)
        }
        #expect(name("a/w.yml") == "w.yml")
        #expect(name("b/w.yml")?.hasPrefix("w.yml-") == true)
    }

    @Test func `a name that is almost too long for a file leaves room for what comes behind it`() throws {
        let test = try FlowrunTest()
        let directory = try StateDirectory.made(test.path("any"))
        let long = String(repeating: "n", count: 250) + ".yml"
        let other = String(repeating: "n", count: 250) + ".yaml"
        let names = [long, other].map { StatePlace(file: $0, explicit: nil).name(in: directory) ?? "" }
        #expect(names.allSatisfy { $0.utf8.count <= 200 })
        #expect(names[0] != names[1])
    }

    @Test func `a new folder is its owner's only, and hides from version control and backups`() throws {
        let test = try FlowrunTest()
        let path = test.path(".flowrun")
        let directory = try StateDirectory.made(path, isInProject: true)
        #expect(try mode(of: path) == 0o700)
        #expect(Set(directory.names()) == [".", "..", ".gitignore", "CACHEDIR.TAG"])
        #expect(try test.contents(of: ".flowrun/.gitignore") == "*\n")
        #expect(
            try test.contents(of: ".flowrun/CACHEDIR.TAG").hasPrefix("Signature: 8a477f597d28d172789f06886806bc55\n"))
    }

    @Test func `a folder that is there stays as it is`() throws {
        let test = try FlowrunTest()
        try FileManager.default.createDirectory(
            atPath: test.path("state"), withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
        let directory = try StateDirectory.made(test.path("state/"), isInProject: true)
        #expect(Set(directory.names()) == [".", ".."])
        #expect(try mode(of: test.path("state")) == 0o755)
    }

    @Test func `folders on the way are made`() throws {
        let test = try FlowrunTest()
        _ = try StateDirectory.made(test.path("a/b/c/"))
        #expect(try mode(of: test.path("a/b/c")) == 0o700)
    }

    @Test func `a folder that others may write into is refused`() throws {
        let test = try FlowrunTest()
        for bits in [0o720, 0o702, 0o777] {
            let path = test.path("state\(bits)")
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            try FileManager.default.setAttributes([.posixPermissions: bits], ofItemAtPath: path)
            let error = #expect(throws: StateError.self) { try StateDirectory.made(path) }
            #expect(error?.reason == .writableByOthers)
            #expect(error?.isUnsafe == true)
        }
    }

    @Test(arguments: ["state", "state/"])
    func `a link to a folder is refused, also with a slash behind it`(name: String) throws {
        let test = try FlowrunTest()
        try FileManager.default.createDirectory(atPath: test.path("real"), withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(atPath: test.path("state"), withDestinationPath: "real")
        let error = #expect(throws: StateError.self) { try StateDirectory.made(test.path(name)) }
        #expect(error?.isUnsafe == true)
    }

    @Test(.enabled(if: geteuid() == 0, "needs to be root to give a folder away"))
    func `somebody else's folder is refused`() throws {
        let test = try FlowrunTest()
        let path = test.path("state")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        #expect(chown(path, 12345, 12345) == 0)
        let error = #expect(throws: StateError.self) { try StateDirectory.made(path) }
        #expect(error?.reason == .foreign(owner: 12345))
    }

    private func numbers(_ count: Int, in directory: StateDirectory) -> [Int] {
        (0..<count).compactMap { _ in StateRegister(in: directory).enter { 0 }?.number }
    }

    @Test func `each run that begins has a number above those before it, and all have one key`() throws {
        let test = try FlowrunTest()
        let directory = try StateDirectory.made(test.path("state"))
        #expect(numbers(3, in: directory) == [1, 2, 3])
        let key = try #require(StateRegister(in: directory).existingKey())
        #expect(key.count == 16)
        #expect(try StateRegister(in: .existing(test.path("state"))).enter { 0 } == .init(key: key, number: 4))
        #expect(StateRegister(in: directory).existingKey() == key)
    }

    @Test func `runs that begin at once have numbers of their own`() async throws {
        let test = try FlowrunTest()
        let directory = try StateDirectory.made(test.path("state"))
        let entries = await withTaskGroup { group in
            for _ in 0..<8 { group.addTask { (0..<50).compactMap { _ in StateRegister(in: directory).enter { 0 } } } }
            return await group.reduce(into: []) { $0 += $1 }
        }
        #expect(entries.map(\.number).sorted() == Array(1...400))
        #expect(Set(entries.map(\.key)).count == 1)
    }

    @Test(arguments: [0, 15, 19])
    func `where the count is lost with the key, it goes on behind all runs that are known`(size: Int) throws {
        let test = try FlowrunTest()
        let directory = try StateDirectory.made(test.path("state"))
        try test.write([UInt8](repeating: 7, count: size), to: "state/key")
        #expect(StateRegister(in: directory).existingKey() == nil)
        let entry = try #require(StateRegister(in: directory).enter { 41 })
        #expect(entry.number == 42 && entry.key != [UInt8](repeating: 7, count: 16))
        #expect(StateRegister(in: directory).enter { 41 } == .init(key: entry.key, number: 43))
        let names = try FileManager.default.contentsOfDirectory(atPath: test.path("state"))
        #expect(!names.contains { $0.hasSuffix("~") })
    }

    @Test func `a changed bit costs the key at most, and no number`() throws {
        let test = try FlowrunTest()
        let directory = try StateDirectory.made(test.path("state"))
        let before = try #require((0..<5).compactMap { _ in StateRegister(in: directory).enter { 0 } }.last)
        let bytes = [UInt8](try #require(FileManager.default.contents(atPath: test.path("state/key"))))
        for offset in bytes.indices {
            var changed = bytes
            changed[offset] ^= 1 << UInt8(offset % 8)
            try test.write(changed, to: "state/key")
            let entry = try #require(StateRegister(in: directory).enter { 0 })
            #expect(entry.number == 6)
            #expect((entry.key == before.key) == (offset >= 20))
        }
    }

    @Test func `the key of a version that did not count runs stays`() throws {
        let test = try FlowrunTest()
        let directory = try StateDirectory.made(test.path("state"))
        let key = (1...16).map { UInt8($0) }
        try test.write(key, to: "state/key")
        #expect(StateRegister(in: directory).existingKey() == key)
        #expect(StateRegister(in: directory).enter { 0 } == .init(key: key, number: 1))
        #expect(StateRegister(in: directory).enter { 0 } == .init(key: key, number: 2))
    }

    @Test func `a reader makes nothing`() throws {
        let test = try FlowrunTest()
        let error = #expect(throws: StateError.self) { try StateDirectory.existing(test.path("state")) }
        #expect(error?.isAbsence == true)
        #expect(!test.exists("state"))
    }
}
