import Foundation

/// What each step or group waits for, by full id: what a test declares, or what `flowrun plan --format json` says.
package struct DependencyTable: Sendable, ExpressibleByDictionaryLiteral {
    /// How the other one has to end.
    package enum Wanted: String, Sendable {
        /// The list form of `needs`: a success, a skip by condition or a tolerated failure.
        case ok
        case success, failure
        case done
    }

    package private(set) var needs: [String: [String: Wanted]]

    package init(dictionaryLiteral elements: (String, [String: Wanted])...) {
        needs = Dictionary(elements, uniquingKeysWith: { $1 })
    }

    /// Plain `needs` lists.
    package init(_ lists: [String: [String]]) {
        needs = lists.mapValues { list in Dictionary(list.map { ($0, .ok) }, uniquingKeysWith: { $1 }) }
    }

    /// The answer of `plan --format json`: its `steps`, each with `id` and `needs`. An entry of `needs` is an id, or an
    /// object whose `id` (or `step`, `group`) comes with a `kind`; an id alone is asked only to have ended, since it
    /// does not say how.
    package init(plan json: String) throws {
        let answer = try JSONDecoder().decode(JSONValue.self, from: Data(json.utf8))
        var needs: [String: [String: Wanted]] = [:]
        for step in answer["steps"]?.array ?? [] {
            guard let id = step["id"]?.string else { continue }
            var wanted: [String: Wanted] = [:]
            for need in step["needs"]?.array ?? [] {
                if let name = need.string {
                    wanted[name] = .done
                } else if let name = need["id"]?.string ?? need["step"]?.string ?? need["group"]?.string {
                    wanted[name] = need["kind"]?.string.flatMap(Wanted.init(rawValue:)) ?? .done
                }
            }
            needs[id] = wanted
        }
        self.needs = needs
    }
}
