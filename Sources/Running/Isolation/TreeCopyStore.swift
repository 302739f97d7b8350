internal import Basics
internal import Glibc
internal import Planning
internal import Platform
internal import Processes

/// The copies of the tree of a run. Each is made by a command, like one of the group's `vars`, when the first step in
/// it starts.
@EventLoopActor
final class TreeCopyStore {
    private let run: String
    private let files: StepFiles
    /// nil if no copy is to outlive the run: then they are among the files that are removed with it.
    private let folder: String?
    private let state: String?
    /// As in `TreeCopies`.
    private var starts: [PlanIndex: TreeCopies.Start]
    private let isForecast: Bool
    /// The folders of the kept copies, once they are known.
    private var folders: [PlanIndex: String] = [:]
    /// The kept copies that this run could not note itself in.
    private var failures: [PlanIndex: SystemError] = [:]
    private var removalCount = 0

    init(_ copies: TreeCopies?, of run: String, _ files: StepFiles) {
        self.run = run
        self.files = files
        folder = copies?.folder
        state = copies?.state
        starts = copies?.starts ?? [:]
        isForecast = copies?.isForecast == true
    }

    /// True if no copy is being removed.
    var isIdle: Bool { removalCount == 0 }

    /// True if a group needs no copy, since all its steps are restored.
    func isRestored(_ group: PlanIndex) -> Bool { isForecast || starts[group] == .restored }

    /// True if a group goes on in the copy that was kept.
    func isKept(_ group: PlanIndex) -> Bool { starts[group] == .kept }

    /// Makes the next copy of a group a new one.
    func beginAgain(_ group: PlanIndex) {
        starts[group] = nil
        folders[group] = nil
    }

    /// Notes that the run goes on in the copy that was kept for a group. If that fails, the copy cannot be used.
    func noteUse(of group: PlanIndex, _ id: String) {
        do throws(SystemError) { try lasting(id)?.noteUse(by: run) } catch { failures[group] = error }
    }

    /// Returns the folder in the copy that was kept for a group; nil if it gets a new one. Throws if it is gone.
    func keptFolder(of group: PlanIndex, _ id: String) throws(SystemError) -> String? {
        guard isKept(group) else { return nil }
        if let failure = failures[group] { throw failure }
        if let known = folders[group] { return known }
        guard let found = lasting(id)?.folder else { throw SystemError(ENOENT) }
        folders[group] = found
        return found
    }

    /// The copy of a group, if that outlives the run.
    func lasting(_ id: String) -> TreeCopy? { folder.map { TreeCopy(of: id, in: $0) } }

    /// The copy of a group, whether it is there or not.
    func copy(for id: String) throws(StepError) -> TreeCopy {
        if let folder { return TreeCopy(of: id, in: folder) }
        return TreeCopy(of: id, in: "\(try files.runFolder())/trees")
    }

    /// Returns the command that makes the copy of a group.
    func command(for id: String) throws(StepError) -> TreeCopyCommand {
        let scratch = folder == nil ? try files.runFolder() : nil
        let excluded = [state, state.map { "\($0)/trees" }, scratch].compactMap(\.self)
        return TreeCopyCommand(making: try copy(for: id), of: run, without: excluded)
    }

    /// Removes the copy of a group beside the event loop, and then calls `done` with the error for what is left.
    func remove(_ id: String, then done: @escaping @EventLoopActor (SystemError?) -> Void) {
        let rest: String?
        do throws(SystemError) { rest = try (try? copy(for: id))?.takeAway() } catch { return done(error) }
        guard let rest else { return }
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

    /// Removes the folder of the copies if none is left in it. Called once nothing of the run runs any more.
    func removeEmptyFolder() { if let folder { rmdir(folder) } }

    private nonisolated static func remove(_ path: String) -> SystemError? {
        do throws(SystemError) { try FolderRemoval.remove(path) } catch { return error }
        return nil
    }
}
