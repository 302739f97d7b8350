internal import Syntax

/// A body that is being read: the first file, a used one, or a template.
struct OpenBody {
    /// The same for one body in all its uses.
    let identity: String
    /// The name of the body in findings.
    let name: String
    /// The place of its use; nil for the first file, and for a template that is read in its own place.
    let use: SourceRange?
}

// `uses`: the body of a group is another file, or a template of the same one.
extension WorkflowDecoder {
    /// The identity of the workflow's own file.
    static let firstFile = ""
    /// The largest depth of bodies inside each other.
    static let useDepth = 32
    /// The largest number of uses in one workflow, those inside other bodies counted each time.
    static let useLimit = 10_000
    /// Above this number of steps and groups, further uses are refused, so that few bytes cannot fill the memory.
    static let nodeLimit = 1_000_000

    mutating func decodeUse(_ reader: borrowing MappingReader, of group: NodeIndex) {
        nodes[group.row].body = .group
        let given = reader.take(.with)
        let arguments = arguments(given)
        guard let entry = reader.take(.uses), let name = text(entry), !isExpression(entry.value) else { return }
        useCount += 1
        guard useCount <= Self.useLimit, openBodies.count <= Self.useDepth, nodes.count <= Self.nodeLimit else {
            return reportTooManyUses(entry)
        }
        guard Self.isPath(name) else { return decodeUsedTemplate(name, entry, arguments, given, of: group) }
        guard let used = document(at: name, entry) else { return }
        let body = OpenBody(identity: used.identity, name: used.document.file.name, use: entry.value.range)
        guard enter(body, at: entry) else { return }
        var use = Use(
            .file, in: used.document.file, of: group, range: entry.value.range,
            folder: RelativePath.folder(of: used.path))
        use.arguments = arguments
        let outer = (document: document, isKnown: isKnown)
        document = DecodedDocument(used.document.file, folder: use.folder)
        isKnown = isKnown || used.isKnown
        used.document.withRoot { root in
            decodeFile(root, as: &use)
            reportExpressions(below: root, rowCount: used.document.rowCount)
        }
        (document, isKnown) = outer
        openBodies.removeLast()
        check(use, given, at: entry, name: name)
    }

    /// True if the value of `uses` is the path of a file; anything else is the name of a template.
    private static func isPath(_ name: String) -> Bool {
        name.utf8.contains(UInt8(ascii: "/")) || name.hasSuffix(".yml") || name.hasSuffix(".yaml")
    }

    private mutating func decodeFile(_ root: YAMLNode, as use: inout Use) {
        guard var reader = fileReader(root) else { return }
        let top = decodeTop(&reader)
        use.parameters = top.parameters
        use.defaults = top.defaults
        use.defaultSteps = top.defaultSteps
        var settings = decodeSettings(reader, in: .top)
        if let description = top.description { settings = Settings([.description: description]).merged(with: settings) }
        checkTemplates()
        open(&use, with: settings)
        decodeBody(reader, of: use.group)
        if let steps = top.defaultSteps { makeManual(below: use.group, except: steps.map { StepPath.ids($0.name) }) }
    }

    /// Gives the body to the group: everything read from here on is inside.
    mutating func open(_ use: inout Use, with settings: Settings?) {
        let row = use.group.row
        use.settings = settings?.only(Self.innerKeys)
        if let outer = settings?.without(Self.innerKeys) {
            nodes[row].settings = nodes[row].settings?.merged(with: outer) ?? outer
        }
        nodes[row].isUse = true
        uses.append(use)
    }

    /// Keys of a body that are evaluated inside; all others could be keys of the group itself.
    private static let innerKeys: KeySet = [.env, .dotenv, .workingDirectory, .envPolicy, .log, .require]

    /// Makes manual what the `default` of a used file leaves out: it runs only if it is named, as if the file ran by
    /// itself.
    private mutating func makeManual(below group: NodeIndex, except paths: [[String]]) {
        let named = Dictionary(grouping: paths.filter { !$0.isEmpty }) { $0[0] }
        var row = group.row + 1
        let end = Int(nodes[group.row].subtreeEnd)
        while row < end {
            let node = nodes[row]
            let named = (named[node.id] ?? []).map { Array($0.dropFirst()) }
            if named.isEmpty, node.hook == nil {
                nodes[row].settings = Settings([.manual: true]).merged(with: node.settings)
            } else if !named.isEmpty, !named.contains([]) {
                makeManual(below: NodeIndex(row), except: named)
            }
            row = Int(node.subtreeEnd)
        }
    }

    // MARK: Files

    private struct UsedDocument {
        let document: YAMLDocument
        let identity: String
        /// Relative to the first file's folder.
        let path: String
        /// True if it has been read before.
        let isKnown: Bool
    }

    private mutating func document(at name: String, _ entry: MappingReader.Entry) -> UsedDocument? {
        guard !name.hasPrefix("/") else {
            report(
                .unusableFile, "`uses` takes a path that is relative to the file, found \(Phrase.quoted(name))",
                at: entry.value, fix: .init("write the path from this file's folder"))
            return nil
        }
        let path = RelativePath.joined(document.folder, name)
        if let identity = identities[path], let known = documents[identity] {
            return UsedDocument(document: known, identity: identity, path: path, isKnown: true)
        }
        switch files.read(path) {
        case .found(let found, let name, let bytes):
            let identity = found == files.identity() ? Self.firstFile : found
            identities[path] = identity
            if let known = documents[identity] {
                return UsedDocument(document: known, identity: identity, path: path, isKnown: true)
            }
            guard let file = file.add(name: name, bytes: bytes) else {
                report(.fileTooLarge, "with `\(name)`, the files of the workflow are too large", at: entry.value)
                return nil
            }
            let (document, problems) = YAMLParser.parse(file)
            let note = Diagnostic.Note("`\(name)` is used here", at: entry.value.range)
            for problem in problems { findings.add(problem.severity) { problem.adding([note], in: self.file) } }
            guard let document else { return nil }
            documents[identity] = document
            return UsedDocument(document: document, identity: identity, path: path, isKnown: false)
        case .outside:
            report(
                .unusableFile, "\(Phrase.quoted(name)) is outside of the folder of `\(file.name)`", at: entry.value,
                fix: .init("move it into that folder, or give `--allow-outside`"))
        case .unreadable(let problem):
            let isAction = name.utf8.contains(UInt8(ascii: "@"))
            report(
                .unusableFile, "cannot use \(Phrase.quoted(name)): \(problem)", at: entry.value,
                fix: .init(
                    isAction
                        ? "flowrun has no actions; write the commands under `run`"
                        : "write the path of a workflow file, from this file's folder"))
        }
        return nil
    }

    /// Notes that a body is being read. Returns false and reports a cycle if it is being read already.
    mutating func enter(_ body: OpenBody, at entry: MappingReader.Entry) -> Bool {
        guard let start = openBodies.firstIndex(where: { $0.identity == body.identity }) else {
            openBodies.append(body)
            return true
        }
        let ring = openBodies[start...] + [body]
        guard toldRings.insert(Set(ring.map(\.identity))).inserted else { return false }
        let names = ring.map { "`\($0.name)`" }
        let notes = zip(ring, ring.dropFirst()).dropLast().compactMap { user, used in
            used.use.map { Diagnostic.Note("`\(user.name)` uses `\(used.name)` here", at: $0) }
        }
        // Reported even if the other findings about this body exist already: the cycle is visible only here.
        findings.add(.error) {
            Diagnostic(
                .usesCycle, "files or templates that use each other: \(names.joined(separator: " uses "))", in: file,
                at: entry.value.range, notes: notes, fix: .init("remove one of the `uses`"))
        }
        return false
    }

    private mutating func reportTooManyUses(_ entry: MappingReader.Entry) {
        guard !isUseLimitTold else { return }
        isUseLimitTold = true
        let message =
            if useCount > Self.useLimit {
                "files and templates are used more than \(Self.useLimit) times"
            } else if nodes.count > Self.nodeLimit {
                "the files and templates that are used come to more than \(Self.nodeLimit) steps and groups"
            } else {
                "files and templates are used more than \(Self.useDepth) deep"
            }
        findings.add(.error) {
            Diagnostic(
                .fanOutTooLarge, message, in: file, at: entry.value.range,
                fix: .init("use a fan-out in place of many groups, or split the workflow"))
        }
    }

    // MARK: What all files share

    /// A name is the same secret everywhere in the run, whichever file declares it.
    mutating func takeSecrets(_ own: [Secret]) {
        for secret in own {
            guard let position = secretPositions[secret.name] else {
                secretPositions[secret.name] = runSecrets.count
                runSecrets.append(secret)
                continue
            }
            let known = runSecrets[position]
            guard known.source != secret.source else { continue }
            report(
                .conflictingKeys, "the secret `\(secret.name)` comes from another place in another file",
                at: secret.range, notes: [.init("it is declared here", at: known.range)],
                fix: .init("rename one of the two"))
        }
    }

    /// A name is the same pool everywhere in the run, whichever file declares it.
    mutating func takePools(_ own: [Pool]) {
        for pool in own {
            guard let position = poolPositions[pool.name] else {
                poolPositions[pool.name] = runPools.count
                runPools.append(pool)
                continue
            }
            let known = runPools[position]
            guard known.size != pool.size else { continue }
            report(
                .conflictingKeys, "the pool `\(pool.name)` has another size in another file", at: pool.range,
                notes: [.init("here it has \(known.size)", at: known.range)],
                fix: .init("write the same size in both, or rename one"))
        }
    }
}

// Names on the command line.
extension WorkflowDecoder {
    /// `aliases`: other names for the id.
    mutating func aliases(_ entry: MappingReader.Entry) -> [StepReference] {
        namingKeys.insert(.aliases)
        return items(entry, expected: "a list of names", mayBeAlone: false).compactMap { node in
            checkName(node, of: "a step") ? StepReference(name: node.text, range: node.range) : nil
        }
    }

    /// `params` of a step.
    mutating func stepParameters(_ entry: MappingReader.Entry) -> [Parameter] {
        namingKeys.insert(.params)
        let own = parameters(entry)
        document.stepParameterNames.formUnion(own.map(\.name))
        for case (let parameter, let computed?) in own.map({ ($0, $0.computedDefault) }) {
            report(
                .expressionNotAllowed, "the default of `\(parameter.name)`, a parameter of a step, takes no expression",
                at: computed.range, fix: .init("write the value, or the expression where the step reads the parameter"))
        }
        return own
    }

    /// Reports parameters of a step with the name of another variable that it has: the value of one would be lost.
    mutating func checkParameters(of settings: Settings) {
        let axes = Set(settings.fanOut?.axes ?? [])
        for parameter in settings.parameters {
            var notes: [Diagnostic.Note] = []
            let other: String
            if let outer = document.parameters.first(where: { $0.name == parameter.name }) {
                other = "is a parameter of the step and of all around it"
                notes = [.init("the other one is declared here", at: outer.range)]
            } else if axes.contains(parameter.name) {
                other = "is a parameter and the variable of the fan-out"
            } else if document.secretNames?.contains(parameter.name) == true {
                other = "is a secret and a parameter"
            } else {
                continue
            }
            report(
                .conflictingKeys, "`\(parameter.name)` \(other)", at: parameter.range, notes: notes,
                fix: .init("rename one of the two"))
        }
    }

    /// `internal`: true, or nothing.
    mutating func isInternal(_ entry: MappingReader.Entry) -> Bool? {
        guard bool(entry) == true else { return nil }
        namingKeys.insert(.internal)
        return true
    }

    /// Reports an alias that is also the id or an alias of a member of the same group. O(members).
    mutating func checkAliases(in group: NodeIndex) {
        var places: [String: SourceRange] = [:]
        var row = group.row + 1
        var aliases: [StepReference] = []
        while row < nodes.count {
            places[nodes[row].id] = nodes[row].range
            aliases += nodes[row].settings?.aliases ?? []
            row = Int(nodes[row].subtreeEnd)
        }
        for alias in aliases {
            guard let other = places.updateValue(alias.range, forKey: alias.name) else { continue }
            report(
                .invalidID, "the alias `\(alias.name)` is already a name in this group", at: alias.range,
                notes: [.init("it is given here", at: other)], fix: .init("choose another alias, or remove it"))
        }
    }
}
