internal import Planning
internal import Processes
internal import RunLog
internal import Workflow

// The folders that rows run in: that of the run, or what stands for it in a copy of the tree.
extension RunContext {
    /// Returns the folder that the paths of a row are relative to, absolute: the run's own, or what stands for it in
    /// the copy of the tree that the row runs in; nil for flowrun's own. With `isInside`, that of the members of a
    /// group. Throws if the copy cannot be made, or is not there yet: then `pending` lacks it.
    func folder(of row: PlanIndex, isInside: Bool = false) throws(EvaluationError) -> String? {
        guard let group = isolatedGroup(around: row, isInside: isInside) else { return options.folder }
        // A run that is only shown makes no copy.
        guard unknown == nil, !hasRestoredTree(row, in: group) else { return try folder(of: group) }
        return try value(of: treeKey(of: group)).text
    }

    /// Returns the folder that the command of a step starts in, as `folder(of:)` does.
    func folderOfStart(_ row: PlanIndex) throws(StepError) -> String? {
        guard hasIsolatedGroups else { return options.folder }
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

    /// True if a row belongs to an isolated group whose steps are all restored, so that there is no copy to run it in.
    func hasRestoredTree(_ row: PlanIndex) -> Bool {
        isolatedGroup(around: row).map { hasRestoredTree(row, in: $0) } ?? false
    }

    /// Returns the error of a step that has to run although there is no copy to run it in; nil if there is one.
    func obstacle(_ row: PlanIndex) -> StepError? {
        guard let group = isolatedGroup(around: row), hasRestoredTree(row, in: group) else { return nil }
        return .withoutTree(plan.nodes[group].id)
    }

    private func hasRestoredTree(_ row: PlanIndex, in group: PlanIndex) -> Bool {
        trees.isRestored(plan.nodes[group].id) && !plan.isInHook(row)
    }

    /// True if a row runs in a copy of the tree.
    func isIsolated(_ row: PlanIndex) -> Bool { isolatedGroup(around: row) != nil }

    private func isolatedGroup(around row: PlanIndex, isInside: Bool = false) -> PlanIndex? {
        guard hasIsolatedGroups else { return nil }
        var next = row
        if isInside, plan.isIsolated(next) { return next }
        while next != .root {
            next = plan.parent(of: next)
            if plan.isIsolated(next) { return next }
        }
        return nil
    }

    private func treeKey(of group: PlanIndex) -> SharedKey {
        SharedKey(group: group, id: .tree(of: plan.nodes[group].definition))
    }

    /// Returns true if the copy of a group has been made, or taken over, in this run.
    func hasTree(_ group: PlanIndex) -> Bool { pending.shared.isMade(treeKey(of: group)) }

    /// Returns the command that makes the copy of the tree for a group.
    func treeLaunch(for key: SharedKey) throws(StepError) -> SharedLaunch {
        let source: String?
        do { source = try folder(of: key.group) } catch { throw failure(error) }
        let (words, path) = try trees.command(for: plan.nodes[key.group].id)
        let surroundings = Surroundings(environment: environments[.inherit])
        return SharedLaunch(
            command: try command(words, in: surroundings, from: source),
            words: .arguments(["copy", source ?? ".", path]), scriptFile: nil)
    }
}
