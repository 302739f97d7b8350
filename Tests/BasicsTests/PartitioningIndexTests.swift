import Basics
import Testing

struct PartitioningIndexTests {
    @Test(arguments: 0...20)
    func `the first element of the second part is found wherever it begins`(count: Int) {
        for border in 0...count {
            #expect((0..<count).partitioningIndex { $0 >= border } == border)
            // Indices of a slice do not begin at 0.
            #expect(Array(-5..<count)[5...].partitioningIndex { $0 >= border } == border + 5)
        }
    }
}
