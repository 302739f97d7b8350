import Syntax

@testable package import Workflow

/// A workflow built in code, with a text in which every key and every `needs` entry has its place, so that tests of the
/// planner and the printers need no parser.
///
/// The text is a workflow file; groups nest by recursion, so they are to stay shallow.
package struct WorkflowSketch {
    private var text = "version: 1\nsteps:\n"
    private var size = 0
    private var nodes: [WorkflowNode] = []
    private var needs: [Need] = []

    /// The workflow of these members. `settings` are those of the top level.
    package static func workflow(
        _ members: [NodeSketch], onFailure: [NodeSketch]? = nil, finally: [NodeSketch]? = nil,
        pools: [(name: String, size: Int)] = [], settings: Settings? = nil, defaults: Settings? = nil,
        defaultSteps: [String] = [], file: String = "flow.yml"
    ) -> Workflow {
        var sketch = WorkflowSketch()
        sketch.size = sketch.text.utf8.count
        sketch.nodes = [
            WorkflowNode(id: "", range: .beginning, parent: .root, subtreeEnd: 0, body: .group, settings: settings)
        ]
        for member in members { sketch.append(member, parent: .root, indent: "  ") }
        sketch.appendHook(.onFailure, onFailure, parent: .root, indent: "")
        sketch.appendHook(.finally, finally, parent: .root, indent: "")
        sketch.nodes[0].subtreeEnd = UInt32(sketch.nodes.count)
        var declared: [Pool] = []
        if !pools.isEmpty { sketch.write("pools:\n") }
        for pool in pools {
            sketch.write("  ")
            declared.append(Pool(name: pool.name, size: pool.size, range: sketch.write(pool.name)))
            sketch.write(": \(pool.size)\n")
        }
        var chosen: [StepReference] = []
        for name in defaultSteps {
            sketch.write(chosen.isEmpty ? "default: [" : ", ")
            chosen.append(StepReference(name: name, range: sketch.write(name)))
        }
        if !chosen.isEmpty { sketch.write("]\n") }
        var workflow = Workflow(
            file: SourceFile(name: file, text: sketch.text), name: "sketch", defaults: defaults, nodes: sketch.nodes,
            needs: sketch.needs)
        workflow.pools = declared
        workflow.defaultSteps = chosen.isEmpty ? nil : chosen
        return workflow
    }

    private mutating func appendHook(
        _ hook: WorkflowNode.Hook, _ members: [NodeSketch]?, parent: NodeIndex, indent: String
    ) {
        guard let members else { return }
        let row = nodes.count
        let id = hook == .finally ? "finally" : "on-failure"
        write(indent)
        let range = write(id)
        write(":\n")
        nodes.append(WorkflowNode(id: id, range: range, parent: parent, subtreeEnd: 0, body: .group, hook: hook))
        for member in members { append(member, parent: NodeIndex(row), indent: indent + "  ") }
        nodes[row].subtreeEnd = UInt32(nodes.count)
    }

    private mutating func append(_ member: NodeSketch, parent: NodeIndex, indent: String) {
        let row = nodes.count
        write(indent)
        let range = write(member.id)
        write(":\n")
        let firstNeed = UInt32(needs.count)
        if !member.needs.isEmpty {
            write("\(indent)  needs: {")
            for (position, need) in member.needs.enumerated() {
                if position > 0 { write(", ") }
                needs.append(Need(name: need.name, kind: need.kind, range: write(need.name)))
                write(": \(need.kind)")
            }
            write("}\n")
        }
        let ownNeeds = firstNeed..<UInt32(needs.count)
        let settings = settings(of: member, indent: indent)
        var body = WorkflowNode.Body.group
        if member.isMilestone {
            body = .milestone
        } else if member.members == nil {
            body = .script(.text(member.script))
            write("\(indent)  run: \"\(member.script)\"\n")
        }
        nodes.append(
            WorkflowNode(
                id: member.id, range: range, parent: parent, subtreeEnd: 0, needs: ownNeeds, body: body,
                settings: settings))
        if let members = member.members {
            write("\(indent)  steps:\n")
            for member in members { append(member, parent: NodeIndex(row), indent: indent + "    ") }
        }
        appendHook(.onFailure, member.onFailure, parent: NodeIndex(row), indent: indent + "  ")
        appendHook(.finally, member.finally, parent: NodeIndex(row), indent: indent + "  ")
        nodes[row].subtreeEnd = UInt32(nodes.count)
    }

    private mutating func settings(of member: NodeSketch, indent: String) -> Settings? {
        guard
            member.isSequence || member.forEach != nil || member.timeout != nil || member.description != nil
                || member.maxParallel != nil || member.grace != nil || member.items != nil
                || member.condition != nil || member.retry != nil || !member.mutexes.isEmpty || !member.pools.isEmpty
                || member.isManual
        else { return nil }
        var order: SourceRange?
        if member.isSequence {
            write("\(indent)  ")
            order = write("order")
            write(": sequence\n")
        }
        var fanOut: FanOut?
        if let values = member.forEach {
            write("\(indent)  ")
            let range = write("for-each")
            write(": [\(values.joined(separator: ", "))]\n")
            let instances = values.map {
                FanOut.Instance(key: $0, variables: [Variable(name: member.variable, value: $0)])
            }
            fanOut = FanOut(axes: [member.variable], instances: instances, range: range)
        }
        if let items = member.items {
            write("\(indent)  ")
            let range = write("for-each")
            write(": ${{ ")
            let expression = Self.expression(items, at: write(items))
            write(" }}\n")
            fanOut = FanOut(
                axes: [member.variable], instances: [], items: expression, limit: member.maxItems, range: range)
        }
        var condition: Expression?
        if let text = member.condition {
            write("\(indent)  if: ")
            condition = Self.expression(text, at: write(text))
            write("\n")
        }
        return Settings([
            .description: member.description,
            .timeout: member.timeout.map { TimeLimit(duration: $0, range: .beginning) },
            .grace: member.grace, .maxParallel: member.maxParallel, .order: order, .forEach: fanOut, .if: condition,
            .retry: member.retry, .pool: pools(of: member, indent: indent),
            .mutex: mutexes(of: member, indent: indent), .manual: member.isManual ? true : nil,
        ])
    }

    private static func expression(_ text: String, at range: SourceRange) -> Expression {
        do {
            return try ExpressionParser.parse(text, at: range)
        } catch {
            preconditionFailure("a sketch with `\(text)` in it: \(error)")
        }
    }

    private mutating func mutexes(of member: NodeSketch, indent: String) -> [MutexRequest] {
        guard !member.mutexes.isEmpty else { return [] }
        write("\(indent)  mutex: [")
        let requests = member.mutexes.enumerated().map { position, name in
            if position > 0 { write(", ") }
            return MutexRequest(name: name, range: write(name))
        }
        write("]\n")
        return requests
    }

    private mutating func pools(of member: NodeSketch, indent: String) -> [PoolRequest] {
        guard !member.pools.isEmpty else { return [] }
        write("\(indent)  pool: {")
        let requests = member.pools.enumerated().map { position, pool in
            if position > 0 { write(", ") }
            let range = write(pool.name)
            write(": \(pool.units)")
            return PoolRequest(pool: pool.name, units: pool.units, range: range)
        }
        write("}\n")
        return requests
    }

    @discardableResult
    private mutating func write(_ piece: String) -> SourceRange {
        let start = size
        text += piece
        size += piece.utf8.count
        return SourceRange(start..<size)
    }
}

/// A step or group of a `WorkflowSketch`.
package struct NodeSketch {
    package var id: String
    package var needs: [(name: String, kind: Need.Kind)]
    /// nil for a step.
    package var members: [NodeSketch]?
    package var isSequence = false
    package var forEach: [String]?
    package var variable = "item"
    package var script = "true"
    package var description: String?
    package var timeout: Duration?
    package var grace: Duration?
    package var maxParallel: Int?
    /// An expression in the place of `forEach`, whose value only the run knows.
    package var items: String?
    package var maxItems = FanOut.defaultLimit
    package var condition: String?
    package var retry: Retry?
    package var mutexes: [String] = []
    package var pools: [(name: String, units: Int)] = []
    package var onFailure: [NodeSketch]?
    package var finally: [NodeSketch]?
    /// Without a text of its own.
    package var isManual = false
    /// Has no `run`.
    package var isMilestone = false

    package static func step(_ id: String, needs: [String] = [], forEach: [String]? = nil) -> NodeSketch {
        NodeSketch(id: id, needs: needs.map { ($0, .ok) }, members: nil, forEach: forEach)
    }

    package static func group(
        _ id: String, needs: [String] = [], isSequence: Bool = false, forEach: [String]? = nil,
        _ members: [NodeSketch]
    ) -> NodeSketch {
        NodeSketch(
            id: id, needs: needs.map { ($0, .ok) }, members: members, isSequence: isSequence, forEach: forEach)
    }

    /// The same with a property changed.
    package func with<Value>(_ path: WritableKeyPath<NodeSketch, Value>, _ value: Value) -> NodeSketch {
        var copy = self
        copy[keyPath: path] = value
        return copy
    }
}
