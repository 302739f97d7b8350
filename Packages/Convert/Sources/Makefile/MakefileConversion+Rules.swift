// The targets, and what they need.
extension MakefileConversion {
    mutating func add(_ rule: MakeRule, _ statement: MakeStatement) {
        let known = variables.literal(rule.targets)?.words
        if known == [] {
            draft.tail += statement.origin.comments("a rule for no target")
            return
        }
        guard let names = known else {
            // It may be any target, also the first one.
            var target = MakeTarget(name: rule.targets, origin: statement.origin)
            target.comments = statement.comment
            target.problem = "only make knows the names of the targets"
            rows[rule.targets] = targets.count
            return targets.append(target)
        }
        if names.count == 1, names[0].first == ".", !names[0].contains("%"), !names[0].contains("/") {
            if Self.special.contains(names[0]) {
                return addSpecial(names[0], rule, statement)
            }
            if addSuffixRule(names[0], rule, statement) { return }
        }
        let needs = variables.literal(rule.needs)?.words
        let orderedAfter = variables.literal(rule.orderedAfter)?.words
        if rule.pattern == nil, names.contains(where: { $0.contains("%") }) {
            for name in names {
                if let assignment = rule.assignment, statement.doubt == nil {
                    ofPatterns.append((MakePattern(name), assignment))
                    continue
                }
                var pattern = MakePatternRule(
                    target: MakePattern(name), needs: needs ?? [], orderedAfter: orderedAfter ?? [], rule: rule,
                    origin: statement.origin)
                pattern.problem = statement.doubt ?? rule.problem
                if rule.assignment != nil { pattern.problem = "variables of patterns have no counterpart" }
                if needs == nil || orderedAfter == nil { pattern.problem = Self.unknownNeeds }
                if names.count > 1 { pattern.problem = "one recipe makes several files" }
                patterns.append(pattern)
            }
            return
        }
        let pattern = rule.pattern.map { variables.literal($0).map(MakePattern.init) }
        for (index, name) in names.enumerated() {
            if rows[name] == nil {
                rows[name] = targets.count
                targets.append(MakeTarget(name: name, origin: .none))
            }
            guard let row = rows[name] else { continue }
            var (ownNeeds, ownRule) = (needs ?? [], rule)
            if let pattern {
                guard let stem = pattern?.stem(of: name) else {
                    targets[row].problem = Self.unknownNeeds
                    continue
                }
                targets[row].stem = stem
                ownNeeds = ownNeeds.map { need in need.cut(at: "%").map { $0.before + stem + $0.after } ?? need }
            }
            if rule.isGrouped, names.count > 1 {
                if index > 0 {
                    (ownNeeds, ownRule.recipe) = ([names[0]], [])
                } else if rule.recipe.contains(where: { MakePiece.names(in: $0.text).contains("@") }) {
                    ownRule.problem = "only make knows which of its targets it makes"
                }
            }
            targets[row].add(ownRule, needs: ownNeeds, orderedAfter: orderedAfter ?? [], origin: statement.origin)
            if needs == nil || orderedAfter == nil { targets[row].problem = Self.unknownNeeds }
            if let doubt = statement.doubt { targets[row].problem = doubt }
            targets[row].comments += index == 0 ? statement.comment : []
        }
    }

    private static let special: Set<String> = [
        ".PHONY", ".NOTPARALLEL", ".ONESHELL", ".POSIX", ".IGNORE", ".EXPORT_ALL_VARIABLES", ".SUFFIXES", ".SILENT",
        ".DELETE_ON_ERROR", ".PRECIOUS", ".SECONDARY", ".INTERMEDIATE", ".LOW_RESOLUTION_TIME", ".NOTINTERMEDIATE",
        ".DEFAULT", ".SECONDEXPANSION", ".WAIT",
    ]

    /// Handles a target that has a special meaning to make.
    private mutating func addSpecial(_ name: String, _ rule: MakeRule, _ statement: MakeStatement) {
        var words = variables.literal(rule.needs)?.words
        if name == ".PHONY", words == nil {
            // Names that only make knows have rules of their own, which are marked.
            let parts = MakePiece.words(of: rule.needs).map { (text: $0, words: variables.literal($0)?.words) }
            if parts.allSatisfy({ $0.words != nil || unknownTargets.contains($0.text) }) {
                words = parts.flatMap { $0.words ?? [] }
            }
        }
        if name == ".PHONY", !rule.recipe.isEmpty { notes += statement.origin.comments("a recipe that never runs") }
        let isRepeated = name == ".ONESHELL" && isOneShell
        if statement.doubt != nil && !isRepeated || words == nil || !rule.recipe.isEmpty && name != ".PHONY" {
            // Without it, every target would be another one.
            problem = problem ?? "`\(name)` was not understood"
            notes += statement.origin.comments("not converted")
        }
        switch name {
        case ".PHONY":
            phony += words ?? []
            let isKnown = words?.allSatisfy(evaluationTargets.contains) ?? false
            if !isKnown || words == [] { notes += statement.origin.comments("not all of these have a rule") }
        case ".NOTPARALLEL" where words == []:
            draft.settings.append(
                YAMLEntry("max-parallel", .word("1"), comments: [".NOTPARALLEL"]))
        case ".ONESHELL":
            isOneShell = true
            notes += statement.origin.comments("each script has one shell")
        case ".POSIX": isStrict = true
        case ".IGNORE": tolerant.formUnion(words == [] ? ["*"] : words ?? [])
        case ".EXPORT_ALL_VARIABLES":
            notes += statement.origin.comments("all variables at the top are in the environment of the steps")
        case ".SUFFIXES":
            if words == [] { suffixes = [] } else { suffixes.formUnion(words ?? []) }
            hasOwnRulesOnly = hasOwnRulesOnly || words == []
            notes += statement.origin.comments("read with the rules of these endings")
        case ".SILENT", ".DELETE_ON_ERROR", ".PRECIOUS", ".SECONDARY", ".INTERMEDIATE", ".LOW_RESOLUTION_TIME",
            ".NOTINTERMEDIATE":
            notes += statement.origin.comments("of no effect here")
        default:
            problem = problem ?? "`\(name)` has no counterpart"
            notes += statement.origin.comments("not converted")
        }
    }

    /// Handles `.c.o:`, the old way to write `%.o: %.c`. Returns false for any other target.
    private mutating func addSuffixRule(_ name: String, _ rule: MakeRule, _ statement: MakeStatement) -> Bool {
        guard rule.needs.isEmpty, !rule.recipe.isEmpty else { return false }
        for source in suffixes where name.hasPrefix(source) {
            let rest = String(name.dropFirst(source.count))
            guard rest.isEmpty || suffixes.contains(rest) else { continue }
            var pattern = MakePatternRule(
                target: MakePattern("%\(rest)"), needs: ["%\(source)"], orderedAfter: [], rule: rule,
                origin: statement.origin)
            pattern.problem = statement.doubt ?? rule.problem
            patterns.append(pattern)
            return true
        }
        return false
    }

    /// Makes targets from matching patterns if other targets need them.
    mutating func addPatternTargets() {
        var row = 0
        while row < targets.count, targets.count < Self.targetLimit {
            if targets[row].recipe.isEmpty, !phony.contains(targets[row].name) { fillIn(row) }
            for need in targets[row].needs + targets[row].orderedAfter where rows[need] == nil {
                guard mayMake(need, targets[row].chain) || hasImplicitRule(need) else { continue }
                rows[need] = targets.count
                var target = MakeTarget(name: need, origin: targets[row].origin)
                target.chain = targets[row].chain
                targets.append(target)
            }
            row += 1
        }
        for row in targets.indices {
            targets[row].needs = targets[row].needs.map(resolved)
            targets[row].orderedAfter = targets[row].orderedAfter.map(resolved)
        }
        // A target without a recipe that needs only files is no step.
        let isStep = targets.map { target in
            !target.recipe.isEmpty || target.problem != nil || phony.contains(target.name) || variables.doubt != nil
                || target.needs.contains { rows[$0] != nil } || target.name == targets.first?.name
        }
        for (row, target) in targets.enumerated() where !isStep[row] {
            withoutStep.insert(target.name)
            draft.tail += target.comments + target.origin.comments("nothing to run")
        }
        targets = zip(targets, isStep).filter(\.1).map(\.0)
        // Targets that only make knows may have the same text.
        rows = Dictionary(targets.enumerated().map { ($1.name, $0) }) { first, _ in first }
    }

    /// The path at which make finds a file that has no rule, by `vpath`.
    private func resolved(_ name: String) -> String {
        guard rows[name] == nil, folder.isKnown, !name.hasPrefix("/"), !folder.exists(name) else { return name }
        let folders = searches.filter { $0.pattern.stem(of: name) != nil }.flatMap(\.folders)
        return folders.map { "\($0)/\(name)" }.first(where: folder.exists) ?? name
    }

    private mutating func fillIn(_ row: Int) {
        let name = targets[row].name
        if name.contains(MakeSymbol.start) {
            targets[row].problem = targets[row].problem ?? "only make knows which pattern fits"
            return
        }
        // make takes the rule with the shortest stem, and only one whose sources it can have.
        let chain = targets[row].chain
        let fitting = patterns.indices.filter { row in
            patterns[row].target.stem(of: name) != nil && !patterns[row].rule.recipe.isEmpty && !chain.contains(row)
        }
        let index = choose(fitting, for: name, chain)
        if let index { targets[row].chain.insert(index) }
        guard let rule = index.map({ patterns[$0] }), let stem = rule.target.stem(of: name) else {
            return fillInImplicit(row)
        }
        func filled(_ names: [String]) -> [String] {
            names.map { name in name.cut(at: "%").map { $0.before + stem + $0.after } ?? name }
        }
        // Needs from a rule without recipe come after those of the pattern, because `$<` means the first one.
        targets[row].stem = stem
        targets[row].needs = filled(rule.needs) + targets[row].needs
        targets[row].orderedAfter += filled(rule.orderedAfter)
        targets[row].recipe = rule.rule.recipe
        targets[row].description = targets[row].description ?? rule.rule.description
        targets[row].problem = targets[row].problem ?? rule.problem
        targets[row].origin = targets[row].needs.count > rule.needs.count ? targets[row].origin : rule.origin
    }

    private func choose(_ rules: [Int], for name: String, _ chain: Set<Int>) -> Int? {
        let possible = rules.filter { !folder.isKnown || canUse($0, for: name, chain) }
        let length: (Int) -> Int = { patterns[$0].target.stem(of: name)?.count ?? .max }
        // Without knowing the files, the last one of those that fit equally well.
        let candidates = possible.isEmpty ? rules.filter { patterns[$0].target.length > 0 } : possible
        guard let shortest = candidates.map(length).min() else { return nil }
        let best = candidates.filter { length($0) == shortest }
        return folder.isKnown ? best.first : best.last
    }

    /// True if a pattern may make a file. make uses each once in a chain.
    func mayMake(_ name: String, _ chain: Set<Int>) -> Bool {
        if folder.isKnown, folder.exists(name), patterns.contains(where: { $0.target.length == 0 }) {
            return patterns.indices.contains { canUse($0, for: name, chain) }
        }
        return patterns.indices.contains { row in
            !chain.contains(row) && patterns[row].target.stem(of: name) != nil
                && (patterns[row].target.length > 0 || canUse(row, for: name, chain))
        }
    }

    private func canUse(_ row: Int, for name: String, _ chain: Set<Int>) -> Bool {
        guard !chain.contains(row), let stem = patterns[row].target.stem(of: name) else { return false }
        return patterns[row].needs.allSatisfy { need in
            let need = need.cut(at: "%").map { $0.before + stem + $0.after } ?? need
            return rows[need] != nil || folder.exists(resolved(need))
                || chain.count < 3
                    && patterns.indices.contains { canUse($0, for: need, chain.union([row])) }
        }
    }

    // MARK: - The rules of make

    /// True if make knows by itself how to make a file that the makefile only names.
    private func hasImplicitRule(_ name: String) -> Bool { implicitSource(of: name) != nil }

    private func implicitSource(of name: String) -> (source: String, recipe: String)? {
        guard !hasOwnRulesOnly, folder.isKnown else { return nil }
        return MakeImplicitRule.sources(of: name).first { source, _ in
            rows[source] != nil || folder.exists(source)
                || targets.contains { $0.needs.contains(source) } && implicitSource(of: source) != nil
        }
    }

    private mutating func fillInImplicit(_ row: Int) {
        guard let (source, recipe) = implicitSource(of: targets[row].name) else { return }
        targets[row].needs = [source] + targets[row].needs.filter { $0 != source }
        targets[row].recipe = [MakeLine(text: recipe)]
        targets[row].comments.append("by a rule that make has without the makefile")
        if recipe.contains("\n") { targets[row].problem = "make has a rule of its own for it" }
    }

    /// True for the absolute path of a file that is there.
    private func isMadeAbsolute(_ need: String) -> Bool {
        guard let name = MakeSymbol.variables(in: need).first, need == MakeSymbol.text(of: name),
            case .reference(let reference)? = MakePiece.pieces(of: variables.variables[name]?.value ?? "").first,
            reference.hasPrefix("realpath "), let file = variables.literal(String(reference.dropFirst(9)))?.trimmed
        else { return false }
        return folder.exists(file)
    }

    /// The reason why make could not make what a target needs; nil if it is there or nothing is known about files.
    func missing(_ target: MakeTarget) -> String? {
        for need in target.needs + target.orderedAfter
        where rows[need] == nil && !phony.contains(need) && !withoutStep.contains(need) {
            if need.contains(where: { "*?[".contains($0) }) {
                guard !folder.isKnown || !folder.matches(need).isEmpty else { return "no file matches `\(need)` yet" }
                continue
            }
            if folder.isKnown {
                if isMadeAbsolute(need) { continue }
                guard !folder.exists(need) else { continue }
                if searches.contains(where: { $0.pattern.stem(of: need) != nil }) {
                    return "make looks for `\(need)` in other folders, by `vpath`"
                }
                return variables.doubt ?? "there is no rule for `\(MakeSymbol.shown(need))`, and no such file"
            }
            if !hasOwnRulesOnly, MakeImplicitRule.mayMake(need), need.hasSuffix(".o") {
                return "make may have a rule of its own for `\(need)`"
            }
        }
        return nil
    }
}
