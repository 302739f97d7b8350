import Foundation
import Glibc

/// The control groups that the tests run in, as far as they may divide them.
package enum Cgroup {
    /// The folder of the own cgroup of version 2; nil where there is none that new ones can be made in.
    package static let own: String? = {
        guard let path = line("0::") else { return nil }
        return ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"].map { path == "/" ? $0 : $0 + path }.first { folder in
            FileManager.default.fileExists(atPath: folder + "/cgroup.procs") && canDivide(folder)
        }
    }()

    /// The folder of the own memory cgroup of version 1, where kills for memory are counted; nil likewise.
    package static let ownMemory: String? = {
        guard let path = line(":memory:") else { return nil }
        let folder = "/sys/fs/cgroup/memory" + path
        return canDivide(folder) ? folder : nil
    }()

    /// The folder of the own cgroup of version 1 that limits processes; nil likewise.
    package static let ownProcesses: String? = {
        guard let path = line(":pids:") else { return nil }
        let folder = "/sys/fs/cgroup/pids" + path
        return canDivide(folder) ? folder : nil
    }()

    /// The folder of the own cgroup of version 1 that limits processor time; nil likewise.
    package static let ownProcessors: String? = {
        guard let path = line(":cpu:") else { return nil }
        let folder = "/sys/fs/cgroup/cpu" + path
        return canDivide(folder) ? folder : nil
    }()

    /// The layer that steps of a run have here.
    package static var layer: String { own == nil ? "guard" : "cgroup" }

    private static func line(_ prefix: String) -> String? {
        let text = (try? String(contentsOfFile: "/proc/self/cgroup", encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap { line in
            line.range(of: prefix).map { String(line[$0.upperBound...]) }
        }.first
    }

    private static func canDivide(_ folder: String) -> Bool {
        let probe = "\(folder)/flowrun-test-\(getpid())"
        guard mkdir(probe, 0o700) == 0 else { return false }
        rmdir(probe)
        return true
    }
}
