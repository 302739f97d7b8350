import FlowrunTestSupport
import Foundation
import Testing

/// What a program takes in with the library, and where the library can be built.
@Suite struct LibraryPlatformTests {
    /// A target of the manifest and what it names, targets and products alike.
    private static func dependencies() throws -> [String: [String]] {
        let manifest = try PackageDocument("Package.swift").text
        let target = /target\(\s*"(\w+)"(?:,\s*\[(.*?)\])?/.dotMatchesNewlines()
        let names = manifest.matches(of: target).map { match in
            let words = (match.2 ?? "").split(whereSeparator: { ", \n\"".contains($0) }).map(String.init)
            return (String(match.1), words)
        }
        return Dictionary(names, uniquingKeysWith: { first, _ in first })
    }

    /// The library's target and all that it is linked with.
    private static func linked() throws -> Set<String> {
        let dependencies = try dependencies()
        var linked: Set<String> = []
        var pending = ["AsyncOperations"]
        while let next = pending.popLast() {
            if linked.insert(next).inserted { pending += dependencies[next] ?? [] }
        }
        return linked
    }

    @Test func `the library is linked with its scheduler, its platform and a heap`() throws {
        #expect(try Self.linked() == ["AsyncOperations", "Platform", "Scheduling", "heap"])
    }

    @Test func `the library imports nothing but itself, a heap and locks, and one file of it the system`() throws {
        var imported: [String: Set<String>] = [:]
        for target in try Self.linked() {
            for path in PackageText.paths where path.hasPrefix("Sources/\(target)/") && path.hasSuffix(".swift") {
                for match in try PackageDocument(path).text.matches(of: /\bimport\ (\w+)/) {
                    imported[String(match.1), default: []].insert(path)
                }
            }
        }
        let systems: Set = ["Android", "Darwin", "Glibc", "Musl", "WinSDK"]
        #expect(
            Set(imported.keys)
                == systems.union(["HeapModule", "Platform", "Scheduling", "Synchronization"]))
        for system in systems { #expect(imported[system] == ["Sources/Platform/Platform.swift"]) }
    }

    /// The compiler takes the first of the systems that it can import. Here that is a sketch of one: what the library
    /// needs of its headers, typed as there.
    @Test(arguments: [android, darwin, musl, windows])
    func `the file that knows the system compiles on others`(sketch: Sketch) async throws {
        let test = try FlowrunTest(files: [
            "\(sketch.module)/module.modulemap": "module \(sketch.module) [system] { header \"system.h\" export * }\n",
            "\(sketch.module)/system.h": sketch.header,
        ])
        func typecheck(_ folder: String) async throws -> FlowrunResult {
            try await test.run(
                "-swift-version", "6", "-enable-upcoming-feature", "InternalImportsByDefault", "-warnings-as-errors",
                "-package-name", "flowrun", "-I", test.path(folder),
                "\(PackageFolder.path)/Sources/Platform/Platform.swift",
                launcher: ["sh", "-c", #"exec swiftc -typecheck "$@""#])
        }
        try await typecheck(sketch.module).expect(exit: 0, stdout: "", stderr: "")

        // The sketch is what it was compiled against.
        let spoilt = sketch.header.replacing(sketch.startThread, with: "start")
        try test.write(spoilt, to: "\(sketch.module)/system.h")
        try await typecheck(sketch.module).expect(stderr: "cannot find '\(sketch.startThread)' in scope")
    }

    struct Sketch: CustomTestStringConvertible {
        let module: String
        var startThread = "pthread_create"
        let header: String

        var testDescription: String { module }
    }

    private static let darwin = Sketch(
        module: "Darwin",
        header: """
            typedef struct { long sig; char opaque[56]; } pthread_attr_t;
            typedef struct _opaque_pthread_t { long sig; char opaque[8176]; } *pthread_t;
            typedef struct { long sig; char opaque[56]; } pthread_mutex_t;
            typedef struct { long sig; char opaque[8]; } pthread_mutexattr_t;
            typedef struct { long sig; char opaque[40]; } pthread_cond_t;
            typedef struct { long sig; char opaque[8]; } pthread_condattr_t;
            struct timespec { long tv_sec; long tv_nsec; };
            #define PTHREAD_CREATE_DETACHED 2
            #define _SC_NPROCESSORS_ONLN 58
            #pragma clang assume_nonnull begin
            int pthread_attr_init(pthread_attr_t *);
            int pthread_attr_destroy(pthread_attr_t *);
            int pthread_attr_setdetachstate(pthread_attr_t *, int);
            int pthread_attr_setstacksize(pthread_attr_t *, unsigned long);
            int pthread_create(pthread_t _Nullable * _Nonnull restrict, const pthread_attr_t * _Nullable restrict,
                void * _Nullable (* _Nonnull)(void * _Nonnull), void * _Nullable restrict);
            int pthread_mutex_init(pthread_mutex_t * restrict, const pthread_mutexattr_t * _Nullable restrict);
            int pthread_mutex_destroy(pthread_mutex_t *);
            int pthread_mutex_lock(pthread_mutex_t *);
            int pthread_mutex_unlock(pthread_mutex_t *);
            int pthread_cond_init(pthread_cond_t * restrict, const pthread_condattr_t * _Nullable restrict);
            int pthread_cond_destroy(pthread_cond_t *);
            int pthread_cond_signal(pthread_cond_t *);
            int pthread_cond_wait(pthread_cond_t * restrict, pthread_mutex_t * restrict);
            int pthread_cond_timedwait_relative_np(pthread_cond_t *, pthread_mutex_t *,
                const struct timespec * _Nullable);
            long sysconf(int);
            #pragma clang assume_nonnull end

            """)

    private static let android = Sketch(
        module: "Android",
        header: """
            typedef struct { unsigned flags; void *_Nullable base; unsigned long size, guard; int policy, priority;
                char reserved[16]; } pthread_attr_t;
            typedef long pthread_t;
            typedef struct { int private[10]; } pthread_mutex_t;
            typedef long pthread_mutexattr_t;
            typedef struct { int private[12]; } pthread_cond_t;
            typedef long pthread_condattr_t;
            typedef int clockid_t;
            struct timespec { long tv_sec; long tv_nsec; };
            #define CLOCK_MONOTONIC 1
            #define PTHREAD_CREATE_DETACHED 1
            #define _SC_NPROCESSORS_ONLN 0x0061
            int pthread_attr_init(pthread_attr_t *_Nonnull);
            int pthread_attr_destroy(pthread_attr_t *_Nonnull);
            int pthread_attr_setdetachstate(pthread_attr_t *_Nonnull, int);
            int pthread_attr_setstacksize(pthread_attr_t *_Nonnull, unsigned long);
            int pthread_create(pthread_t *_Nonnull, const pthread_attr_t *_Nullable,
                void *_Nullable (*_Nonnull)(void *_Nullable), void *_Nullable);
            int pthread_mutex_init(pthread_mutex_t *_Nonnull, const pthread_mutexattr_t *_Nullable);
            int pthread_mutex_destroy(pthread_mutex_t *_Nonnull);
            int pthread_mutex_lock(pthread_mutex_t *_Nonnull);
            int pthread_mutex_unlock(pthread_mutex_t *_Nonnull);
            int pthread_condattr_init(pthread_condattr_t *_Nonnull);
            int pthread_condattr_setclock(pthread_condattr_t *_Nonnull, clockid_t);
            int pthread_condattr_destroy(pthread_condattr_t *_Nonnull);
            int pthread_cond_init(pthread_cond_t *_Nonnull, const pthread_condattr_t *_Nullable);
            int pthread_cond_destroy(pthread_cond_t *_Nonnull);
            int pthread_cond_signal(pthread_cond_t *_Nonnull);
            int pthread_cond_wait(pthread_cond_t *_Nonnull, pthread_mutex_t *_Nonnull);
            int pthread_cond_timedwait(pthread_cond_t *_Nonnull, pthread_mutex_t *_Nonnull,
                const struct timespec *_Nullable);
            int clock_gettime(clockid_t, struct timespec *_Nonnull);
            long sysconf(int);

            """)

    private static let windows = Sketch(
        module: "WinSDK", startThread: "CreateThread",
        header: """
            typedef unsigned int DWORD;
            typedef unsigned int ULONG;
            typedef unsigned short WORD;
            typedef int BOOL;
            typedef unsigned long long SIZE_T;
            typedef void *HANDLE;
            typedef struct { void *Ptr; } SRWLOCK;
            typedef struct { void *Ptr; } CONDITION_VARIABLE;
            typedef DWORD (*LPTHREAD_START_ROUTINE)(void *);
            typedef struct SECURITY_ATTRIBUTES { DWORD nLength; void *lpSecurityDescriptor; BOOL bInheritHandle; }
                SECURITY_ATTRIBUTES;
            #define ALL_PROCESSOR_GROUPS 0xffff
            #define STACK_SIZE_PARAM_IS_A_RESERVATION 0x00010000
            DWORD GetActiveProcessorCount(WORD);
            HANDLE CreateThread(SECURITY_ATTRIBUTES *, SIZE_T, LPTHREAD_START_ROUTINE, void *, DWORD, DWORD *);
            BOOL CloseHandle(HANDLE);
            DWORD GetLastError(void);
            void InitializeSRWLock(SRWLOCK *);
            void AcquireSRWLockExclusive(SRWLOCK *);
            void ReleaseSRWLockExclusive(SRWLOCK *);
            void InitializeConditionVariable(CONDITION_VARIABLE *);
            void WakeConditionVariable(CONDITION_VARIABLE *);
            BOOL SleepConditionVariableSRW(CONDITION_VARIABLE *, SRWLOCK *, DWORD, ULONG);

            """)

    private static let musl = Sketch(
        module: "Musl",
        header: """
            typedef struct { union { int i[14]; volatile int vi[14]; unsigned long s[7]; } u; } pthread_attr_t;
            typedef struct __pthread *pthread_t;
            typedef struct { union { int i[10]; volatile int vi[10]; volatile void *volatile p[5]; } u; } pthread_mutex_t;
            typedef struct { unsigned attr; } pthread_mutexattr_t;
            typedef struct { union { int i[12]; volatile int vi[12]; void *p[6]; } u; } pthread_cond_t;
            typedef struct { unsigned attr; } pthread_condattr_t;
            typedef int clockid_t;
            struct timespec { long tv_sec; long tv_nsec; };
            #define CLOCK_MONOTONIC 1
            #define PTHREAD_CREATE_DETACHED 1
            #define _SC_NPROCESSORS_ONLN 84
            int pthread_attr_init(pthread_attr_t *);
            int pthread_attr_destroy(pthread_attr_t *);
            int pthread_attr_setdetachstate(pthread_attr_t *, int);
            int pthread_attr_setstacksize(pthread_attr_t *, unsigned long);
            int pthread_create(pthread_t *restrict, const pthread_attr_t *restrict, void *(*)(void *), void *restrict);
            int pthread_mutex_init(pthread_mutex_t *restrict, const pthread_mutexattr_t *restrict);
            int pthread_mutex_destroy(pthread_mutex_t *);
            int pthread_mutex_lock(pthread_mutex_t *);
            int pthread_mutex_unlock(pthread_mutex_t *);
            int pthread_condattr_init(pthread_condattr_t *);
            int pthread_condattr_setclock(pthread_condattr_t *, clockid_t);
            int pthread_condattr_destroy(pthread_condattr_t *);
            int pthread_cond_init(pthread_cond_t *restrict, const pthread_condattr_t *restrict);
            int pthread_cond_destroy(pthread_cond_t *);
            int pthread_cond_signal(pthread_cond_t *);
            int pthread_cond_wait(pthread_cond_t *restrict, pthread_mutex_t *restrict);
            int pthread_cond_timedwait(pthread_cond_t *restrict, pthread_mutex_t *restrict,
                const struct timespec *restrict);
            int clock_gettime(clockid_t, struct timespec *);
            long sysconf(int);

            """)
}
