import Foundation
import Testing

@testable import Reporting

@Suite struct DescriptorSinkTests {
    @Test func `records reach the descriptor whole and in order`() throws {
        let pipe = Pipe()
        let sink = DescriptorSink(descriptor: pipe.fileHandleForWriting.fileDescriptor)
        for record in ["one\n", "", "two\n"] { Array(record.utf8).withUnsafeBytes(sink.write) }
        try pipe.fileHandleForWriting.close()
        #expect(try pipe.fileHandleForReading.readToEnd() == Data("one\ntwo\n".utf8))
        #expect(sink.failure == nil)
    }

    @Test func `the first error is remembered and later records are let go`() throws {
        let full = try FileHandle(forWritingTo: URL(filePath: "/dev/full"))
        let sink = DescriptorSink(descriptor: full.fileDescriptor)
        Array("lost\n".utf8).withUnsafeBytes(sink.write)
        #expect(sink.failure == ENOSPC)
        Array("lost too\n".utf8).withUnsafeBytes(sink.write)
        #expect(sink.failure == ENOSPC)
    }
}
