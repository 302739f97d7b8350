internal import Basics
package import Planning
internal import Workflow

/// The answer of `flowrun graph`: steps as boxes, groups as frames, and an arrow from each dependency to its
/// dependent. A fan-out is drawn once, with the number of its instances.
package struct GraphPrinter {
    private let drawing: GraphDrawing

    package init(_ plan: Plan) { drawing = GraphDrawing(plan) }

    /// Returns the graph for Graphviz.
    package func dot() -> String {
        var text = "digraph \(quotedForDot(drawing.title)) {\n"
        text += "  rankdir=LR;\n  compound=true;\n  node [shape=box];\n"
        drawing.walk { event, depth in
            let indent = String(repeating: "  ", count: depth + 1)
            switch event {
            case .box(let box): text += "\(indent)n\(box.number) [label=\(quotedForDot(label(of: box)))];\n"
            case .frameStart(let box):
                text += "\(indent)subgraph cluster_n\(box.number) {\n"
                text += "\(indent)  label=\(quotedForDot(label(of: box)));\n"
            case .frameEnd: text += "\(indent)}\n"
            }
        }
        for arrow in drawing.arrows {
            // Graphviz draws arrows only between boxes, and cuts them off at a frame's border.
            let (tail, head) = (drawing.boxes[arrow.from], drawing.boxes[arrow.to])
            var attributes: [String] = []
            if tail.isFrame { attributes.append("ltail=cluster_n\(tail.number)") }
            if head.isFrame { attributes.append("lhead=cluster_n\(head.number)") }
            if let label = arrow.label { attributes.append("label=\(quotedForDot(label))") }
            text += "  n\(tail.lastLeaf) -> n\(head.firstLeaf)"
            text += attributes.isEmpty ? ";\n" : " [\(attributes.joined(separator: ", "))];\n"
        }
        return text + "}\n"
    }

    /// Returns the graph for Mermaid, as GitHub and GitLab show it in Markdown.
    package func mermaid() -> String {
        var text = "flowchart LR\n"
        drawing.walk { event, depth in
            let indent = String(repeating: "  ", count: depth + 1)
            switch event {
            case .box(let box): text += "\(indent)n\(box.number)[\(quotedForMermaid(label(of: box)))]\n"
            case .frameStart(let box):
                text += "\(indent)subgraph n\(box.number)[\(quotedForMermaid(label(of: box)))]\n"
            case .frameEnd: text += "\(indent)end\n"
            }
        }
        for arrow in drawing.arrows {
            let label = arrow.label.map { "|\(quotedForMermaid($0))|" } ?? ""
            text += "  n\(arrow.from) -->\(label) n\(arrow.to)\n"
        }
        return text
    }

    /// Returns one object of `nodes` and `edges`; ids are paths of definitions.
    package func json() -> String {
        JSONWriter.line { json in
            json.object { json in
                json.array("nodes") { json in
                    for box in drawing.boxes {
                        json.object { json in
                            json.field("id", box.path)
                            json.field("kind", box.kind)
                            json.field("group", box.parent.map { drawing.boxes[$0].path })
                            json.field("instances", box.instances)
                            json.field("if", box.condition)
                            json.field("file", drawing.file)
                            json.field("line", box.line)
                        }
                    }
                }
                json.array("edges") { json in
                    for arrow in drawing.arrows {
                        json.object { json in
                            json.field("from", drawing.boxes[arrow.from].path)
                            json.field("to", drawing.boxes[arrow.to].path)
                            json.field("kind", arrow.isSequence ? "sequence" : arrow.kind.word)
                        }
                    }
                }
            }
        }
    }

    /// Returns the label in one line, with a shortened condition.
    private func label(of box: GraphDrawing.Box) -> String {
        guard let condition = box.condition?.asOneLine else { return box.label }
        let short = condition.count > 40 ? condition.prefix(39) + "…" : condition[...]
        return "\(box.label) if \(short)"
    }

    private func quotedForDot(_ text: String) -> String {
        var quoted = "\""
        for character in text.asOneLine.unicodeScalars {
            if character == "\"" || character == "\\" { quoted += "\\" }
            quoted.unicodeScalars.append(character)
        }
        return quoted + "\""
    }

    /// Mermaid interprets entities written with `#`, and tags.
    private func quotedForMermaid(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.asOneLine.unicodeScalars {
            if "\"#&;<>`".unicodeScalars.contains(scalar) {
                quoted += "#\(scalar.value);"
            } else {
                quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
