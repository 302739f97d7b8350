internal import Basics
internal import Planning
internal import Processes
internal import RunLog
internal import Syntax
internal import Workflow

// The folders that rows run in: that of the run, or the same folder in a copy of the tree.
extension RunContext {
    /// Returns the folder that the paths of a row are relative to, absolute: the run's own, or the same folder in the
    /// copy of the tree that the row runs in; nil for flowrun's own. With `isInside`, that of the members of a
    /// group. Throws if the copy cannot be made, or is not there yet: then `pending` lacks it.
    func folder(of row: PlanIndex, isInside: Bool = false) throws(EvaluationError) -> String? {
        guard let copies = treeCopies, let group = isolatedGroup(around: row, isInside: isInside) else {
            return options.folder
        }
        // A run that is only shown makes no copy.
        guard unknown == nil, !lacksCopy(in: group) else { return try folder(of: group) }
        do throws(SystemError) {
            if let kept = try copies.keptFolder(of: group, plan.nodes[group].id) { return kept }
        } catch {
            throw EvaluationError(
                "the copy of the tree of `\(plan.nodes[group].id)` cannot be used: \(error.words); "
                    + "`--from \(plan.nodes[group].id)` makes a new one",
                at: plan.workflow.range(of: plan.nodes[group].definition))
        }
        return try value(of: copyKey(of: group)).text
    }

    /// Returns the folder that the command of a step starts in, as `folder(of:)` does.
    func folderOfStart(_ row: PlanIndex) throws(StepError) -> String? {
        guard treeCopies != nil else { return options.folder }
        do { return try folder(of: row) } catch { throw failure(error) }
    }

    /// Returns the same for the commands of the `vars` of a group.
    func folderOfMembers(_ group: PlanIndex) throws(StepError) -> String? {
        do { return try folder(of: group, isInside: true) } catch { throw failure(error) }
    }

    /// Returns a path with the folder that it is relative to; nil is that of flowrun.
    func absolute(_ path: String, from folder: String?) -> String {
        guard !path.hasPrefix("/"), let folder else { return path }
        return "\(folder)/\(path)"
    }

    /// Returns a path from the run's folder on; `folder` is that of its file, empty for the same.
    func path(_ path: String, from folder: String) -> String {
        folder.isEmpty || path.hasPrefix("/") ? path : "\(folder)/\(path)"
    }

    /// True if a row belongs to an isolated group whose steps are all restored, so that there is no copy to run it in.
    func lacksCopy(_ row: PlanIndex) -> Bool {
        isolatedGroup(around: row).map { lacksCopy(in: $0) } ?? false
    }

    private func lacksCopy(in group: PlanIndex) -> Bool {
        treeCopies?.isRestored(group) == true
    }

    /// Returns the error of a step that has to run although there is no copy to run it in; nil if there is one.
    func obstacle(_ row: PlanIndex) -> StepError? {
        guard let group = isolatedGroup(around: row), lacksCopy(in: group) else { return nil }
        return .withoutCopy(plan.nodes[group].id)
    }

    /// Returns the id of the group in whose copy of the tree a row runs; nil for the tree itself.
    func isolation(of row: PlanIndex) -> String? { isolatedGroup(around: row).map { plan.nodes[$0].id } }

    private func isolatedGroup(around row: PlanIndex, isInside: Bool = false) -> PlanIndex? {
        guard treeCopies != nil else { return nil }
        return plan.rowAndAround(row).dropFirst(isInside ? 0 : 1).first(where: plan.isIsolated)
    }

    private func copyKey(of group: PlanIndex) -> SharedKey {
        SharedKey(group: group, id: .tree(of: plan.nodes[group].definition))
    }

    /// True if a group has a copy of the tree in this run.
    func hasCopy(_ group: PlanIndex) -> Bool {
        pending.shared.isMade(copyKey(of: group)) || treeCopies?.isKept(group) == true
    }

    /// Makes the next copies of isolated groups new ones: those inside of a group, and its own.
    func forgetCopies(inside group: PlanIndex) {
        guard let treeCopies else { return }
        for row in [group] + plan.rows(inside: group) where plan.isIsolated(row) { treeCopies.beginAgain(row) }
    }

    /// Returns the command that makes the copy of the tree for a group.
    func copyLaunch(for key: SharedKey) throws(StepError) -> SharedLaunch {
        guard let treeCopies else { preconditionFailure("no group is isolated") }
        let source: String?
        do { source = try folder(of: key.group) } catch { throw failure(error) }
        let words = try treeCopies.command(for: plan.nodes[key.group].id).words
        // Bash would run what this names first.
        let environment = EnvironmentBlock(environments[.inherit], changes: [(name: "BASH_ENV", value: nil)])
        let surroundings = Surroundings(environment: environment)
        return SharedLaunch(
            command: try command(words, in: surroundings, from: source, input: TreeCopyCommand.input),
            words: .arguments(words), scriptFile: nil)
    }

    /// Changes `PWD`, where it was inherited, to the folder that a program starts in; nil for flowrun's own. A program
    /// that no shell starts may take it for true.
    func setFolder(_ folder: String?, in environment: inout EnvironmentBlock) {
        guard let folder, let inherited = environments[.inherit][Self.folderVariable], inherited != folder,
            environment[Self.folderVariable] == inherited
        else { return }
        environment = EnvironmentBlock(environment, changes: [(name: Self.folderVariable, value: folder)])
    }

    private static let folderVariable = "PWD"

    /// Adds to the environment of a row in a copy of the tree that git searches for no repository above the copy.
    func setCeiling(of row: PlanIndex, isInside: Bool = false, in environment: inout EnvironmentBlock) {
        guard let copies = treeCopies, let group = isolatedGroup(around: row, isInside: isInside),
            !lacksCopy(in: group), let copy = try? copies.copy(for: plan.nodes[group].id)
        else { return }
        let folders = [copy.path, environment[Self.ceilingVariable]].compactMap(\.self).joined(separator: ":")
        environment = EnvironmentBlock(environment, changes: [(name: Self.ceilingVariable, value: folders)])
    }

    private static let ceilingVariable = "GIT_CEILING_DIRECTORIES"

    /// Returns the changes that keep what flowrun has inherited from leading git to the original: a hook of git sets
    /// such variables (git(1)). The file may set them all the same.
    func repositoryChanges(in row: PlanIndex, below outer: EnvironmentBlock) -> [(name: String, value: String?)] {
        guard plan.isIsolated(row) else { return [] }
        let inherited = environments[.inherit]
        return Self.repositoryVariables.compactMap { name in
            inherited[name] != nil && outer[name] == inherited[name] ? (name, nil) : nil
        }
    }

    private static let repositoryVariables = [
        "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY",
        "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_PREFIX",
    ]
}
