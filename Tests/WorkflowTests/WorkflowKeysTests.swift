import Syntax
import Testing
import Workflow

struct `The keys of a place` {
    /// A value that no key accepts.
    private let nonsense = "[[]]"

    private func text(_ key: WorkflowKey, in place: String) -> String {
        let entry = "1️⃣\(key.spelling): \(nonsense)"
        let partner = [.as, .maxItems, .maxParallel, .failFast].contains(key) ? ", for-each: [x]" : ""
        return switch place {
        case _ where key == .undoes && ["step", "group", "use"].contains(place):
            "version: 1\ntemplates: { t: { steps: { b: { run: x } } } }\nsteps: { z: { run: x } }\n"
                + "finally: { a: { \(Self.body(of: place)), \(entry) } }\n"
        case "top": "version: 1\nsteps: { a: { run: x } }\n\(entry)\n"
        case "defaults": "version: 1\ndefaults: { \(entry) }\nsteps: { a: { run: x } }\n"
        case "use":
            "version: 1\ntemplates: { t: { steps: { b: { run: x } } } }\nsteps: { a: { uses: t, \(entry)\(partner) } }\n"
        case "template":
            "version: 1\ntemplates: { t: { steps: { b: { run: x } }, \(entry) } }\nsteps: { a: { uses: t } }\n"
        case "step": "version: 1\nsteps: { a: { run: x, \(entry)\(partner) } }\n"
        default: "version: 1\nsteps: { a: { steps: { b: { run: x } }, \(entry)\(partner) } }\n"
        }
    }

    private static func body(of place: String) -> String {
        switch place {
        case "step": "run: x"
        case "use": "uses: t"
        default: "steps: { b: { run: x } }"
        }
    }

    @Test(arguments: [
        ("top", WorkflowKeys.top), ("defaults", WorkflowKeys.defaults), ("step", WorkflowKeys.step),
        ("group", WorkflowKeys.group), ("use", WorkflowKeys.use), ("template", WorkflowKeys.template),
    ])
    func `are all read, and none but them`(place: String, keys: [WorkflowKey]) {
        for key in WorkflowKey.allCases where !["version", "steps", "run", "uses"].contains(key.spelling) {
            let codes = Checked(text(key, in: place)).diagnostics.map(\.code)
            if keys.contains(key) {
                #expect(!codes.isEmpty && !codes.contains(.unknownKey), "\(key) in \(place) is not read")
            } else {
                let isLater = WorkflowKeys.notSupportedYet.contains(key)
                #expect(codes == [isLater ? .notSupportedYet : .unknownKey], "\(key) in \(place)")
            }
        }
    }

    @Test func `are spelt in kebab case, each a word of one place at least`() {
        let all = Set(
            WorkflowKeys.top + WorkflowKeys.defaults + WorkflowKeys.step + WorkflowKeys.group + WorkflowKeys.use)
        #expect(all.isDisjoint(with: WorkflowKeys.notSupportedYet))
        #expect(all.union(WorkflowKeys.notSupportedYet) == Set(WorkflowKey.allCases))
        for key in WorkflowKey.allCases {
            let kebab = String(describing: key).map { $0.isUppercase ? "-\($0.lowercased())" : "\($0)" }.joined()
            #expect(key.spelling == kebab)
        }
    }
}
