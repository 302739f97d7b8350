import FlowrunTestSupport
import Processes
import Testing

struct `The processors that a quota allows` {
    private func quota(_ own: String, _ files: [String: String]) throws -> Int? {
        let test = try FlowrunTest(files: ["own": own])
        for (path, text) in files { try test.write(text, to: "mounts/\(path)") }
        return Machine.processorQuota(own: test.path("own"), mounts: test.path("mounts"))
    }

    @Test func `are rounded up`() throws {
        #expect(try quota("0::/\n", ["cpu.max": "150000 100000\n"]) == 2)
        #expect(try quota("0::/\n", ["cpu.max": "1000 100000\n"]) == 1)
        #expect(try quota("0::/\n", ["cpu.max": "200000 50000\n"]) == 4)
    }

    @Test func `are the least of all cgroups around`() throws {
        let files = ["a/cpu.max": "300000 100000\n", "a/b/cpu.max": "max 100000\n", "a/b/c/cpu.max": "900000 100000\n"]
        #expect(try quota("0::/a/b/c\n", files) == 3)
        #expect(try quota("0::/a\n", files) == 3)
        #expect(try quota("0::/\n", files) == nil)
    }

    @Test func `are those of both versions`() throws {
        let files = [
            "cpu/x/cpu.cfs_quota_us": "250000\n", "cpu/x/cpu.cfs_period_us": "100000\n",
            "cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n",
            "unified/y/cpu.max": "700000 100000\n",
        ]
        for line in [":cpu:", ":cpu,cpuacct:", ":cpuacct,cpu:"] {
            #expect(try quota("12:pids:/x\n4\(line)/x\n0::/y\n", files) == 3)
        }
        #expect(try quota("4:cpu:/elsewhere\n0::/y\n", files) == 7)
    }

    @Test func `count in a container that does not see its own path`() throws {
        #expect(try quota("0::/docker/0a1b\n", ["cpu.max": "100000 100000\n"]) == 1)
    }

    @Test(arguments: ["", "0::/../a\n", "3:cpu\n", "0::/\n"])
    func `are unknown where nothing says them`(own: String) throws {
        #expect(try quota(own, ["other": "1"]) == nil)
        #expect(Machine.processorQuota(own: "/nowhere", mounts: "/nowhere") == nil)
    }
}
