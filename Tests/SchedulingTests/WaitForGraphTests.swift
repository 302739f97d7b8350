import Scheduling
import Testing

struct WaitForGraphTests {
    /// 0 waits for a ring of 1, 2 and 3, which waits for 4; 4 and 5 wait for each other; 6 waits for itself; 7 is
    /// alone.
    private let graph = WaitForGraph(
        vertexCount: 8, sources: [0, 1, 2, 3, 3, 4, 5, 6], targets: [1, 2, 3, 1, 4, 5, 4, 6])

    @Test func `edges keep their order`() {
        let graph = WaitForGraph(vertexCount: 3, sources: [2, 0, 2], targets: [1, 2, 0])
        #expect((0..<3).map { graph.edges(of: $0).map { graph.target(of: $0) } } == [[2], [], [1, 0]])
        let reversed = graph.reversed()
        #expect((0..<3).map { reversed.edges(of: $0).map { reversed.target(of: $0) } } == [[2], [2], [0]])
    }

    @Test func `components are those with a cycle, in order`() {
        #expect(graph.cyclicComponents() == [[1, 2, 3], [4, 5], [6]])
    }

    @Test func `orders omit cycles and everything beyond them`() {
        #expect(graph.waitersFirst() == [0, 7])
        #expect(graph.reversed().waitersFirst() == [7])
        #expect(graph.postorder(from: [7, 4]) == [7, 5, 4])
    }

    @Test func `vertices on a cycle or between cycles are entangled`() {
        #expect(graph.entangledVertices() == [false, true, true, true, true, true, true, false])
        let between = WaitForGraph(vertexCount: 3, sources: [0, 0, 1, 2], targets: [0, 1, 2, 2])
        #expect(between.entangledVertices() == [true, true, true])
    }

    @Test func `the shortest cycle and the smallest cut share an edge`() {
        // Two cycles through the edge from 0 to 1.
        let graph = WaitForGraph(vertexCount: 4, sources: [0, 1, 1, 2, 3], targets: [1, 0, 2, 3, 0])
        let component = WaitComponent([0, 1, 2, 3], of: graph) { edge, _ in
            WaitComponent.Traits(removal: edge, isHop: true)
        }
        var budget = 1000
        #expect(component.shortestCycle(budget: &budget).map { component.edges[$0].number } == [0, 1])
        let cut = component.smallestCut(budget: &budget)
        #expect(cut.removals == [0])
        #expect(cut.isSmallest)
    }
}
