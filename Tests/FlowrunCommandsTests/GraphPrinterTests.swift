import FlowrunCommands
import FlowrunTestSupport
import Foundation
import Planning
import Testing
import Workflow

struct GraphPrinterTests {
    private let printer: GraphPrinter

    init() throws {
        let workflow = WorkflowSketch.workflow([
            .step("toolchain"),
            .group(
                "build", needs: ["toolchain"], forEach: ["x86", "arm"],
                [.step("compile"), .step("smoke", needs: ["compile"], forEach: ["1", "2", "3"])]),
            .group("empty", needs: ["build"], []),
            .group("tail", isSequence: true, [.step("one", needs: ["empty"]), .step("two")]),
            .step("report").with(\.needs, [("build", .done), ("tail", .ok)]),
        ])
        printer = GraphPrinter(try #require(Planner.plan(workflow).plan))
    }

    @Test func `dot draws groups as clusters and folds fan-outs`() {
        #expect(
            printer.dot() == """
                digraph "sketch" {
                  rankdir=LR;
                  compound=true;
                  node [shape=box];
                  n0 [label="toolchain"];
                  subgraph cluster_n1 {
                    label="build × 2";
                    n2 [label="compile"];
                    n3 [label="smoke × 3"];
                  }
                  n4 [label="empty"];
                  subgraph cluster_n5 {
                    label="tail";
                    n6 [label="one"];
                    n7 [label="two"];
                  }
                  n8 [label="report"];
                  n0 -> n2 [lhead=cluster_n1];
                  n2 -> n3;
                  n3 -> n4 [ltail=cluster_n1];
                  n4 -> n6;
                  n6 -> n7;
                  n3 -> n8 [ltail=cluster_n1, label="done"];
                  n7 -> n8 [ltail=cluster_n5];
                }

                """)
    }

    @Test func `mermaid draws groups as subgraphs`() {
        #expect(
            printer.mermaid() == """
                flowchart LR
                  n0["toolchain"]
                  subgraph n1["build × 2"]
                    n2["compile"]
                    n3["smoke × 3"]
                  end
                  n4["empty"]
                  subgraph n5["tail"]
                    n6["one"]
                    n7["two"]
                  end
                  n8["report"]
                  n0 --> n1
                  n2 --> n3
                  n1 --> n4
                  n4 --> n6
                  n6 --> n7
                  n1 -->|"done"| n8
                  n5 --> n8

                """)
    }

    @Test func `json names nodes by their path`() throws {
        let object = try #require(
            try JSONSerialization.jsonObject(with: Data(printer.json().utf8)) as? [String: Any])
        let nodes = try #require(object["nodes"] as? [[String: Any]])
        #expect(nodes.count == 9)
        #expect(nodes[3]["id"] as? String == "build.smoke")
        #expect(nodes[3]["group"] as? String == "build")
        #expect(nodes[3]["instances"] as? Int == 3)
        #expect(nodes[3]["kind"] as? String == "step")
        #expect(nodes[0]["group"] is NSNull)
        let edges = try #require(object["edges"] as? [[String: Any]])
        #expect(
            edges.map { "\($0["from"]!) \($0["kind"]!) \($0["to"]!)" }.sorted() == [
                "build done report", "build ok empty", "build.compile ok build.smoke", "empty ok tail.one",
                "tail ok report",
                "tail.one sequence tail.two", "toolchain ok build",
            ])
    }

    @Test func `quotes, tags and control characters stay inside a label`() throws {
        let workflow = WorkflowSketch.workflow([.step("a\"]; \\<b>#\u{1B}")])
        let printer = GraphPrinter(try #require(Planner.plan(workflow).plan))
        #expect(printer.dot().contains(#"n0 [label="a\"]; \\<b>#\\x1b"];"#))
        #expect(printer.mermaid().contains(##"n0["a#34;]#59; \#60;b#62;#35;\x1b"]"##))
    }

    @Test func `any nested plan gives boxes, frames and arrows that fit together`() throws {
        var random = SeededGenerator(seed: 3)
        for _ in 0..<100 {
            let workflow = WorkflowSketch.workflow(members(depth: 0, random: &random))
            let printer = GraphPrinter(try #require(Planner.plan(workflow).plan))
            try expectWellFormed(dot: printer.dot())
            expectWellFormed(mermaid: printer.mermaid())
            #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(printer.json().utf8)) }
        }
    }

    private func members(depth: Int, random: inout SeededGenerator) -> [NodeSketch] {
        (0..<Int.random(in: 0...4, using: &random)).map { index in
            let needs = (0..<index).filter { _ in Bool.random(using: &random) }.map { "n\($0)" }
            let values = [nil, nil, [], ["x"], ["x", "y"]].randomElement(using: &random) ?? nil
            guard depth < 3, Bool.random(using: &random) else {
                return .step("n\(index)", needs: needs, forEach: values)
            }
            return .group("n\(index)", needs: needs, forEach: values, members(depth: depth + 1, random: &random))
        }
    }

    /// Boxes and clusters are declared once, arrows name declared boxes outside of the clusters they are cut off at.
    private func expectWellFormed(dot: String) throws {
        var boxes: [Substring: [Substring]] = [:]
        var clusters: [Substring] = []
        var open: [Substring] = []
        for line in dot.split(separator: "\n").dropFirst(4) {
            let words = line.split(separator: " ")
            if words[0] == "subgraph" {
                #expect(!clusters.contains(words[1]))
                clusters.append(words[1])
                open.append(words[1])
            } else if words[0] == "}" {
                _ = open.popLast()
            } else if words.count > 1, words[1] == "->" {
                let head = words[2].split(separator: ";")[0]
                let (tailClusters, headClusters) = (try #require(boxes[words[0]]), try #require(boxes[head]))
                let attributes = line.split(whereSeparator: { "[], ;".contains($0) })
                for attribute in attributes {
                    let cluster = attribute.dropFirst(6)
                    if attribute.hasPrefix("ltail=") {
                        #expect(tailClusters.contains(cluster) && !headClusters.contains(cluster))
                    } else if attribute.hasPrefix("lhead=") {
                        #expect(headClusters.contains(cluster) && !tailClusters.contains(cluster))
                    }
                }
            } else if words.count > 1, words[1].hasPrefix("[label=\"") {
                #expect(boxes.updateValue(open, forKey: words[0]) == nil)
            } else {
                #expect(words[0].hasPrefix("label="))
            }
        }
        #expect(open.isEmpty && dot.hasSuffix("\n}\n"))
    }

    private func expectWellFormed(mermaid: String) {
        var ids: Set<Substring> = []
        var depth = 0
        for line in mermaid.split(separator: "\n").dropFirst() {
            let words = line.split(separator: " ")
            switch words[0] {
            case "end": depth -= 1
            case "subgraph":
                depth += 1
                #expect(ids.insert(words[1].prefix { $0 != "[" }).inserted)
            case _ where words.count > 1 && words[1].hasPrefix("-->"):
                #expect(ids.contains(words[0]) && ids.contains(words[words.count - 1]))
            default: #expect(ids.insert(words[0].prefix { $0 != "[" }).inserted)
            }
            #expect(depth >= 0)
        }
        #expect(depth == 0)
    }

    @Test func `hooks are frames, and what only the run knows is one box`() throws {
        let workflow = WorkflowSketch.workflow(
            [.step("a"), .step("b", needs: ["a"]).with(\.items, "fromJSON('[]')").with(\.condition, "always()")],
            finally: [.step("report")])
        let printer = GraphPrinter(try #require(Planner.plan(workflow).plan))
        #expect(
            printer.mermaid() == """
                flowchart LR
                  n0["a"]
                  n1["b[*] if always()"]
                  subgraph n2["finally"]
                    n3["report"]
                  end
                  n0 --> n1

                """)
        #expect(printer.dot().contains("n1 [label=\"b[*] if always()\"];"))
        #expect(printer.json().contains("\"kind\":\"hook\""))
    }
}
