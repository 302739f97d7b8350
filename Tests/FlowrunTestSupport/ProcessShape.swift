import Foundation

/// A tree of processes that is hard to take down, made by `Tests/Scripts/treegen.c`.
package enum ProcessShape: String, CaseIterable, Sendable {
    case plain, fork, doublefork, setsid, daemon, deaf, stopped, holdpipe, leaderdies, respawn, comet, scrub
    case cloneparent, threadleader, traced
}

extension FlowrunTest {
    /// Puts the program that makes such trees into the test's folder, as `tree`: `./tree SHAPE stay|end FILE`.
    package func addTreeGenerator() throws { try addProgram("tree", from: "treegen.c") }

    /// The processes of trees in the test's folder, whatever they have done to their environment.
    package func treeSurvivors() -> [Int32] {
        let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return processes.compactMap(Int32.init).filter { pid in
            // If the first thread has ended, only the other threads show the program.
            let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task")) ?? []
            return threads.contains { thread in
                let link = "/proc/\(pid)/task/\(thread)/exe"
                let program = try? FileManager.default.destinationOfSymbolicLink(atPath: link)
                return program?.hasPrefix(path("tree")) ?? false
            }
        }
    }
}
