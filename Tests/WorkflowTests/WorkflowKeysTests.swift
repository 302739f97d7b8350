import Syntax
import Testing
import Workflow

struct `The keys of a place` {
    /// A value that no key accepts.
    private let nonsense = "[[]]"

    private func text(_ key: WorkflowKey, in place: KeyPlace) -> String {
        let entry = "1️⃣\(key.spelling): \(nonsense)"
        let partner = [.as, .maxItems, .maxParallel, .failFast].contains(key) ? ", for-each: [x]" : ""
        return switch place {
        case _ where key == .undoes && [.step, .group, .use].contains(place):
            "version: 1\ntemplates: { t: { steps: { b: { run: x } } } }\nsteps: { z: { run: x } }\n"
                + "finally: { a: { \(Self.body(of: place)), \(entry) } }\n"
        case .top: "version: 1\nsteps: { a: { run: x } }\n\(entry)\n"
        case .defaults: "version: 1\ndefaults: { \(entry) }\nsteps: { a: { run: x } }\n"
        case .use:
            "version: 1\ntemplates: { t: { steps: { b: { run: x } } } }\nsteps: { a: { uses: t, \(entry)\(partner) } }\n"
        case .template:
            "version: 1\ntemplates: { t: { steps: { b: { run: x } }, \(entry) } }\nsteps: { a: { uses: t } }\n"
        case .step: "version: 1\nsteps: { a: { run: x, \(entry)\(partner) } }\n"
        case .group: "version: 1\nsteps: { a: { steps: { b: { run: x } }, \(entry)\(partner) } }\n"
        }
    }

    private static func body(of place: KeyPlace) -> String {
        switch place {
        case .step: "run: x"
        case .use: "uses: t"
        default: "steps: { b: { run: x } }"
        }
    }

    @Test(arguments: KeyPlace.allCases)
    func `are all read, and none but them`(place: KeyPlace) {
        for key in WorkflowKey.allCases where ![.version, .steps, .run, .uses].contains(key) {
            let codes = Checked(text(key, in: place)).diagnostics.map(\.code)
            if place.keys.contains(key) {
                #expect(!codes.isEmpty && !codes.contains(.unknownKey), "\(key) in \(place) is not read")
            } else {
                let isLater = WorkflowKey.notSupportedYet.contains(key)
                #expect(codes == [isLater ? .notSupportedYet : .unknownKey], "\(key) in \(place)")
            }
        }
    }

    @Test func `are spelt in kebab case, each a word of one place at least`() {
        for key in WorkflowKey.allCases {
            let kebab = String(describing: key).map { $0.isUppercase ? "-\($0.lowercased())" : "\($0)" }.joined()
            #expect(key.spelling == kebab)
            #expect(KeyPlace.allCases.contains { $0.keys.contains(key) } || WorkflowKey.notSupportedYet.contains(key))
        }
    }
}

struct `A set of enum cases` {
    /// A case of an enum with more of them than a word has bits.
    private struct Case: RawRepresentable, Equatable, Sendable {
        let rawValue: UInt8
    }

    @Test func `holds the 65th and the 128th, each by itself and in their order`() {
        var set = EnumSet<Case>()
        for number in [127, 64, 0, 63] as [UInt8] {
            #expect(!set.contains(Case(rawValue: number)))
            set.insert(Case(rawValue: number))
        }
        #expect(set.map(\.rawValue) == [0, 63, 64, 127])
        #expect((0..<128).filter { set.contains(Case(rawValue: $0)) } == [0, 63, 64, 127])
        #expect([0, 63, 64, 127].map { set.position(of: Case(rawValue: $0)) } == [0, 1, 2, 3])
        let others: EnumSet = [Case(rawValue: 64), Case(rawValue: 100)]
        #expect(set.subtracting(others).map(\.rawValue) == [0, 63, 127])
        #expect(set.intersection(others).map(\.rawValue) == [64])
        #expect(set.union(others).map(\.rawValue) == [0, 63, 64, 100, 127])
    }

    @Test func `ends the program rather than lose the 129th`() async {
        await #expect(processExitsWith: .failure) { _ = EnumSet([Case(rawValue: 128)]) }
    }
}
