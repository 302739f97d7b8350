import FlowrunTestSupport
import Foundation
import Glibc
import Testing

@testable import Processes

/// A child shares flowrun's memory until it has become its program, and flowrun does not wait for that.
@Suite(.serialized, .timeLimit(.minutes(20))) struct SpawnTests {
    init() { EventLoopThread.ensureRunning() }

    @Test @EventLoopActor func `many children at once get their own words and say their own`() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for first in 0..<50 { group.addTask { try await echo(stride(from: first, to: 2000, by: 50)) } }
            try await group.waitForAll()
        }
    }

    @Test @EventLoopActor func `a thousand children live at once`() async throws {
        raiseDescriptorLimit()
        var children: [(process: any RunningProcess, observer: Observer)] = []
        for number in 0..<1000 {
            // Other tests share the loop.
            if number % 20 == 0 { await turn() }
            let observer = Observer()
            children.append((try ProcessSpawner.shared.start(command("/bin/sleep", ["1000"]), for: observer), observer))
        }
        #expect(Set(children.map(\.process.pid)).count == 1000)
        for child in children { kill(child.process.pid, SIGKILL) }
        for child in children { #expect(await child.observer.wait().status == .signalled(SIGKILL)) }
    }

    @Test @EventLoopActor func `what is not a program is told apart from a program that fails with 127`() async throws {
        let folder = try TemporaryFolder()
        let interpreted = try folder.file("interpreted", "#!/nowhere/sh\n", mode: 0o755)
        let text = try folder.file("text", "neither\n", mode: 0o755)
        let plain = try folder.file("plain", "#!/bin/sh\n", mode: 0o644)
        let long = String(repeating: "x", count: 200_000)
        for (program, arguments, errno) in [
            (interpreted, [], ENOENT), (text, [], ENOEXEC), (plain, [], EACCES), (folder.path, [], EACCES),
            ("/bin/true", [long], E2BIG), ("/bin/true/x", [], ENOTDIR),
        ] {
            var status = try await run(program, arguments).status
            // A child of another test, which is not its program yet, may still hold the file open that was just
            // written.
            while status == .notStarted(SpawnError(errno: ETXTBSY)) {
                status = try await run(program, arguments).status
            }
            #expect(status == .notStarted(SpawnError(errno: errno)))
        }
        #expect(
            try await run("/bin/true", folder: plain).status
                == .notStarted(SpawnError(errno: ENOTDIR, subject: .workingDirectory)))
        #expect(try await run("/bin/sh", ["-c", "exit 127"]).status == .exited(127))
        // The slot of a failure is the next child's.
        #expect(try await run("/bin/true").status == .exited(0))
    }

    @Test @EventLoopActor func `a signal reaches a child that is not its program yet`() async throws {
        for round in 0..<90 {
            let observer = Observer()
            let process = try ProcessSpawner.shared.start(command("/bin/sleep", ["1000"]), for: observer)
            switch round % 3 {
            case 0: process.killAll()
            case 1: process.terminate(with: SIGTERM, grace: .seconds(1000))
            default:
                process.freeze()
                process.thaw()
                process.terminate(with: SIGINT, grace: .seconds(1000))
            }
            #expect(await observer.wait().status == .signalled([SIGKILL, SIGTERM, SIGINT][round % 3]))
        }
    }

    @Test @EventLoopActor func `a child that is frozen before it is its program goes on with the thaw`() async throws {
        for _ in 0..<100 {
            let observer = Observer()
            let process = try ProcessSpawner.shared.start(command("/bin/echo", ["x"]), for: observer)
            process.freeze()
            await turn()
            process.thaw()
            #expect(await observer.wait().status == .exited(0))
        }
    }

    @Test @EventLoopActor func `a closed descriptor tells nothing, even where a copy of it is left`() async throws {
        let (reader, writer) = try Descriptor.pipe()
        let (silentReader, silentWriter) = try Descriptor.pipe()
        // So high that no other test gets the number while it is free.
        let watched = fcntl(reader.number, F_DUPFD_CLOEXEC, 900)
        Poller.shared.watch(watched, for: .read) { Issue.record("the first watch is over") }
        Poller.shared.close(watched)
        #expect(write(writer.number, "x", 1) == 1)
        #expect(dup2(silentReader.number, watched) == watched)
        Poller.shared.watch(watched, for: .read) { Issue.record("nothing has been written to the second") }
        await turn()
        await turn()
        Poller.shared.close(watched)
        withExtendedLifetime((reader, writer, silentReader, silentWriter)) {}
    }

    @Test @EventLoopActor func `one reading of the clock serves a turn of the loop`() async throws {
        let first = Poller.shared.now
        #expect(Poller.shared.now == first)
        await turn()
        #expect(Poller.shared.now > first)
    }
}

@EventLoopActor
private func echo(_ numbers: StrideTo<Int>) async throws {
    for number in numbers {
        let result = try await run(
            "/bin/sh", ["-c", "echo $1 $NUMBER; exit $2", "sh", "\(number)", "\(number % 256)"],
            additions: [("NUMBER", "\(number)")])
        #expect(result.status == .exited(Int32(number % 256)))
        #expect(result.output == "\(number) \(number)\n")
    }
}

@EventLoopActor
private func run(
    _ path: String, _ arguments: [String] = [], folder: String? = nil, additions: [(name: String, value: String)] = []
) async throws -> (status: ProcessEnding.Status, output: String) {
    let observer = Observer()
    _ = try ProcessSpawner.shared.start(
        command(path, arguments, folder: folder, additions: additions, separate: false), for: observer)
    let ending = await observer.wait()
    return (ending.status, String(decoding: observer.combined, as: UTF8.self))
}

/// Lets this process have as many descriptors as it may.
private func raiseDescriptorLimit() {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
}

/// Goes with all that is in it.
final class TemporaryFolder {
    let path: String

    init() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "flowrun-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String, _ text: String, mode: Int) throws -> String {
        let file = "\(path)/\(name)"
        try text.write(toFile: file, atomically: false, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
        return file
    }
}
