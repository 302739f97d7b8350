import Testing

@testable import Processes

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

    @Test(arguments: [
        ("", ""), ("ks", "ks"), (" -j4 --jobserver-auth=3,4", ""), ("kn -j4 --jobserver-auth=fifo:/tmp/GmFIFO1", "kn"),
        (" -j --jobserver-fds=3,4 -Otarget -- CFLAGS=-j4\\ -k", " -Otarget -- CFLAGS=-j4\\ -k"),
        ("s --jobs=4 --no-print-directory", "s --no-print-directory"),
        (" -j2 --jobserver-auth=-2,-2 --sync-mutex=fnm:/tmp/x", " --sync-mutex=fnm:/tmp/x"),
    ])
    func `are handed on without the number of jobs and the jobserver`(text: String, handedOn: String) {
        #expect(MakeFlags(text).withoutJobs == handedOn)
    }

    @Test(arguments: [
        ("", " -j3 --jobserver-auth=9,9"), ("k", "k -j3 --jobserver-auth=9,9"),
        ("k -- A=b", "k -j3 --jobserver-auth=9,9 -- A=b"), ("-- A=b", " -j3 --jobserver-auth=9,9 -- A=b"),
    ])
    func `name the jobserver before the variables`(text: String, handedOn: String) {
        #expect(MakeFlags(text).withJobs(3, auth: "9,9") == handedOn)
    }

    @Test(arguments: [
        ("k", true, false), ("ks -j4", true, true), (" --keep-going --quiet", true, true), ("", false, false),
        (" -Iks -- k s", false, false), ("s", false, true), ("n --silent", false, true),
    ])
    func `say if make goes on after a failure, and if it is silent`(text: String, goesOn: Bool, isSilent: Bool) {
        #expect(MakeFlags(text).keepsGoing == goesOn && MakeFlags(text).isSilent == isSilent)
    }

    /// As GNU make 4.3 and 4.4 hand them on, in pipe and FIFO form, below an unlimited make, and with variables.
    @Test(arguments: [
        (" -j4 --jobserver-auth=3,4", 4, ""), ("ks -j4 --jobserver-auth=fifo:/tmp/GMfifo9", 4, "ks"),
        (" -j --no-print-directory", nil, " --no-print-directory"),
        (" -j3 --jobserver-auth=fifo:/tmp/GMfifo1 --shuffle=7 -- A=b", 3, " --shuffle=7 -- A=b"),
        ("rR -j2 --jobserver-auth=-2,-2 -Oline -- X=-j9", 2, "rR -Oline -- X=-j9"),
    ])
    func `are read in all forms of make`(text: String, jobs: Int?, handedOn: String) {
        let flags = MakeFlags(text)
        #expect(flags.jobs == jobs && flags.withoutJobs == handedOn && flags.idleOption == nil)
    }

    @Test(arguments: [
        ("", nil), (" -j4 --jobserver-auth=3,4", 4), ("k -j --x", nil), (" --jobs=7", 7), (" -- X=-j4", nil),
        (" -j2 -j8", 8),
    ])
    func `say how many jobs there are`(text: String, jobs: Int?) { #expect(MakeFlags(text).jobs == jobs) }
}
