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

    package init(kinds: [String: [String: Wanted]]) { needs = kinds }

    /// Both tables' entries; where both have one, `other` says how the needed one has to end.
    package func merging(_ other: DependencyTable) -> DependencyTable {
        DependencyTable(kinds: needs.merging(other.needs) { $0.merging($1) { $1 } })
    }

    /// The same with each id of an instance that only the run knows, such as `each[*]`, given for each of these keys.
    package func expanding(_ keys: [String]) -> DependencyTable {
        var expanded = needs
        while let (id, wanted) = expanded.first(where: { $0.key.contains("[*]") }) {
            expanded[id] = nil
            for key in keys {
                let replacing = { (text: String) in text.replacing("[*]", with: "[\(key)]", maxReplacements: 1) }
                let needs = wanted.map { (replacing($0.key), $0.value) }
                expanded[replacing(id)] = Dictionary(needs, uniquingKeysWith: { $1 })
            }
        }
        return DependencyTable(kinds: expanded)
    }

    /// Plain `needs` lists.
    package init(_ lists: [String: [String]]) {
        needs = lists.mapValues { list in Dictionary(list.map { ($0, .ok) }, uniquingKeysWith: { $1 }) }
    }

    /// The answer of `plan --format json`: its `steps` and `groups`, each with `id` and `needs`. An entry of `needs` is
    /// an id, or an object whose `id` (or `step`, `group`) comes with a `kind`; an id alone is asked only to have
    /// ended, since it does not say how.
    package init(plan json: String) throws {
        let answer = try JSONDecoder().decode(JSONValue.self, from: Data(json.utf8))
        var needs: [String: [String: Wanted]] = [:]
        for step in (answer["steps"]?.array ?? []) + (answer["groups"]?.array ?? []) {
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
