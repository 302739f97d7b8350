internal import Basics
internal import Glibc
internal import Platform
internal import Processes

/// The copies of the tree in which the groups with `isolate: copy` run. Each is made by a command, like one of the
/// group's `vars`, when the first step in it starts.
@EventLoopActor
final class GroupTrees {
    /// nil if the run keeps no journal: then they are among the files that are removed with the run.
    private let trees: RunTrees?
    private let files: StepFiles
    /// The ids of the groups that go on in the copy that was kept.
    private var kept: [String]
    private var removalCount = 0

    init(_ trees: RunTrees?, _ files: StepFiles) {
        self.trees = trees
        self.files = files
        kept = trees?.kept ?? []
    }

    /// True if no copy is being removed.
    var isIdle: Bool { removalCount == 0 }

    /// True if all steps of a group are restored, so that it needs no copy.
    func isRestored(_ group: String) -> Bool { trees?.restored.contains(group) == true }

    /// True if a group is to go on in the copy that was kept.
    func isKept(_ group: String) -> Bool { kept.contains(group) }

    /// Makes the next copy of a group a new one.
    func beginAgain(_ group: String) { kept.removeAll { $0 == group } }

    /// Returns the path of the copy of a group, if that outlives the run.
    func keptPath(of group: String) -> String? { trees?.path(of: group) }

    /// Returns the words of the command that makes the copy of a group, and its path.
    func command(for group: String) throws(StepError) -> (words: [String], path: String) {
        let place = try place()
        let path = place.path(of: group)
        return (TreeCopy.words(to: path, without: place.state, isKept: kept.contains(group)), path)
    }

    private func place() throws(StepError) -> RunTrees {
        if let trees { return trees }
        let folder = try files.runFolder()
        return RunTrees(in: "\(folder)/trees", state: folder)
    }

    /// Removes the copy of a group beside the event loop, and then calls `done` with the error for what is left.
    func remove(_ group: String, then done: @escaping @EventLoopActor (SystemError?) -> Void) {
        guard let path = (try? place())?.path(of: group) else { return }
        // A resume does not take the rest for a copy if this run is killed meanwhile.
        let rest = "\(path).old"
        guard rename(path, rest) == 0 else { return }
        removalCount += 1
        let work = { @Sendable in
            let error = Self.remove(rest)
            Task { @EventLoopActor in
                self.removalCount -= 1
                done(error)
            }
            return ()
        }
        do throws(Platform.NoThreadError) { try Platform.startThread(work) } catch { work() }
    }

    private nonisolated static func remove(_ path: String) -> SystemError? {
        do throws(SystemError) { try FolderRemoval.remove(path) } catch { return error }
        return nil
    }
}
