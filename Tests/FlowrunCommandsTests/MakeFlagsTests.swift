import Testing

@testable import FlowrunCommands

struct `The flags that make hands on` {
    @Test(arguments: [
        ("n", "-n"), ("kn -j4 --jobserver-auth=3,4", "-n"), (" -j4 -n", "-n"), ("-q", "-q"), ("t -- A=n", "-t"),
        ("--dry-run", "-n"), (" --touch", "-t"), ("-kq", "-q"),
    ])
    func `say that nothing is made`(text: String, option: String) {
        #expect(MakeFlags(text).idleOption == option)
    }

    @Test(arguments: [
        "", "k", " -j4 --jobserver-auth=fifo:/tmp/n", "k -j --no-print-directory", "-- n=1", "A=n",
        "s -Iinclude/n -Otarget",
        " --no-print-directory -- CFLAGS=-n", "w -l2.5 -fnote -Cnext",
    ])
    func `say nothing of the kind`(text: String) {
        #expect(MakeFlags(text).idleOption == nil)
    }
}
