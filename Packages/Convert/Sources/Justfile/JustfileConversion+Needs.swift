// The recipes that other recipes need.
extension JustfileConversion {
    /// The steps that a recipe needs for one of its dependencies. One whose arguments only a run knows is added to
    /// `computed`.
    mutating func ids(
        of need: JustRecipe.Dependency, _ recipe: JustRecipe, _ given: [String]?,
        _ computed: inout [JustRecipe.Dependency], problem: (String) -> Void
    ) -> [String] {
        guard let needed = recipes.first(where: { $0.recipe.name == need.name }) else {
            problem("there is no recipe `\(need.name)` here")
            return []
        }
        guard !need.arguments.isEmpty else { return [needed.id] }
        let values = JustExpression.values(of: need.arguments) ?? []
        let parameters = recipe.parameters
        let texts = values.map { value -> String? in
            // A parameter of a copy has the value that the copy was given.
            if case .variable(let name)? = value.parts.first, value.parts.count == 1,
                let index = parameters.firstIndex(where: { $0.name == name })
            {
                return given.flatMap { index < $0.count && parameters[index].mark == nil ? $0[index] : nil }
            }
            let local = Dictionary(parameters.map { ($0.name, JustVariables.Local(name: name(of: $0))) }) { $1 }
            return variables.resolved(value, local: local)?.literal
        }
        let known = texts.compactMap { $0 }
        guard !known.isEmpty, known.count == texts.count else {
            computed.append(need)
            return []
        }
        let spelling = "\(need.name) \(known.map { "'\($0)'" }.joined(separator: " "))"
        let isSpelled = values.allSatisfy { $0.literal != nil }
        let copy = Copy(
            name: need.name, arguments: known, spelling: isSpelled ? "\(need.name) \(need.arguments)" : spelling)
        if !copies.contains(copy) { copies.append(copy) }
        return [ids.id(for: copy.spelling)]
    }

    /// Recipes that run as a part of the script that needs them, with values that only the run knows. What they need
    /// in turn, the step needs.
    mutating func partScripts(
        _ needs: [JustRecipe.Dependency], of recipe: JustRecipe, _ given: [String]?, _ step: inout StepDraft,
        depth: Int
    ) throws(JustProblem) -> [String] {
        guard !needs.isEmpty else { return [] }
        let local = try locals(of: recipe, given)
        if exportsAll || recipe.parameters.contains(where: \.isExported) {
            throw JustProblem("what it needs would see its exported parameters")
        }
        guard depth < 8 else { throw JustProblem("recipes that need one another") }
        var lines: [String] = []
        for need in needs {
            guard let values = JustExpression.values(of: need.arguments),
                let needed = recipes.first(where: { $0.recipe.name == need.name })
            else { throw JustProblem("the arguments of `\(need.name)` are computed") }
            // No step has this id.
            let part = self.step(needed, id: "\(step.id) \(need.name)", arguments: nil, depth: depth + 1)
            if case .unfinished(let reason) = part.body { throw JustProblem(reason) }
            step.needs = (step.needs + part.needs).unique
            let known = values.map { variables.resolved($0, local: local)?.literal }
            parts[step.id, default: []] += [Part(name: need.name, arguments: known)]
            parts[step.id, default: []] += parts.removeValue(forKey: part.id) ?? []
            guard case .script(let text) = part.body else { continue }
            guard part.settings.allSatisfy({ $0.key == "shell" }) else {
                throw JustProblem("`\(need.name)`, whose arguments are computed, has settings of its own")
            }
            let names = Set(local.values.map(\.name)).subtracting(needed.recipe.parameters.map { name(of: $0) })
            if let name = ShellWords.names(readIn: text).intersection(names).min() {
                throw JustProblem("`\(name)` is a parameter here, and another variable in `\(need.name)`")
            }
            var words: [String] = []
            for value in values { words.append(try variables.word(of: value, local: local, before: &lines)) }
            let shell: [String]? =
                if case .list(let words)? = part.settings.first?.value {
                    words.compactMap { if case .text(let word) = $0 { word } else { nil } }
                } else { recipe.hasInterpreter ? self.shell : nil }
            // A script inside of this one, in a shell of its own.
            let command = shell.map { "\($0.map(shellWord).joined(separator: " ")) \(shellWord(text)) \(need.name) " }
            let all = words.joined(separator: " ")
            lines.append(command.map { "\($0)\(all) || exit" } ?? "(\nset -- \(all)\n\(text)\n)")
        }
        return lines
    }

    /// just runs a recipe once for the same arguments: gives up the steps that may ask for the same ones again.
    mutating func giveUpRepeated() {
        let steps = Dictionary(draft.steps.map { ($0.id, $0) }) { first, _ in first }
        var plain: [String: Part] = [:]
        for recipe in recipes { plain[recipe.id] = Part(name: recipe.recipe.name, arguments: []) }
        for copy in copies { plain[ids.id(for: copy.spelling)] = Part(name: copy.name, arguments: copy.arguments) }
        for index in draft.steps.indices {
            var uses: [Part] = []
            var inner: [Part] = []
            var seen: Set<String> = []
            var pending = [draft.steps[index].id]
            while let id = pending.popLast() {
                guard seen.insert(id).inserted else { continue }
                uses += (parts[id] ?? []) + [plain[id]].compactMap { $0 }
                inner += parts[id] ?? []
                pending += steps[id]?.needs ?? []
            }
            guard let part = inner.first(where: { part in uses.count(where: part.mayBe) > 1 }) else { continue }
            draft.steps[index].giveUp(
                "just runs `\(part.name)` once if its computed arguments are those of another call")
        }
    }
}
