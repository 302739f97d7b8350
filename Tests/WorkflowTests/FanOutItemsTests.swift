import Syntax
import Testing
import Workflow

/// The instances of a fan-out over a list that only the run knows.
@Suite struct FanOutItemsTests {
    private let fanOut = FanOut(axes: ["item"], instances: [], range: .beginning)

    @Test func `items that differ in their bytes are different items`() throws {
        let instances = try fanOut.instances(over: .list([.string("\u{E9}"), .string("e\u{301}"), .string("e")]))
        #expect(instances.count == 3)
        let error = try #require(throws: FanOut.ItemError.self) {
            try fanOut.instances(over: .list([.string("a"), .string("b"), .string("a")]))
        }
        #expect(error.message.hasPrefix("has one item twice, as number 1 and number 3"))
    }

    @Test func `an item that is to be hidden names no instance`() throws {
        let list = Value.list([.string("a"), .string("hunter2"), .string("1")])
        #expect(try fanOut.instances(over: list).map(\.key) == ["a", "hunter2", "1"])
        // Number 1 is taken by an item, so that all are counted.
        #expect(try fanOut.instances(over: list, isHidden: { $0 == "hunter2" }).map(\.key) == ["0", "1", "2"])
    }
}
