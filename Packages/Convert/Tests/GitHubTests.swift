import Testing

/// GitHub workflows.
struct GitHubTests {
    private func expect(
        _ jobs: String, top: String = "", _ wanted: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let output = try converted("\(top)jobs:\n\(jobs)", "ci.yml")
        #expect(wrongLines(output) == [], "\(output)", sourceLocation: sourceLocation)
        for text in wanted {
            #expect(output.contains(text), "not found:\n\(text)\nin:\n\(output)", sourceLocation: sourceLocation)
        }
    }

    @Test func `a job is a group in a copy of the tree of its own, a sequence if it has several steps`() throws {
        try expect(
            "  a: { runs-on: ubuntu-latest, steps: [{ run: make }] }\n  b: { needs: a, runs-on: ubuntu-latest, steps: [{ run: x }, { name: Do It, run: 'y' }] }\n",
            "  a:\n    isolate: copy\n    steps:\n      make:\n        run: make\n",
            "  b:\n    needs: [a]\n    isolate: copy\n    order: sequence\n    steps:\n      x:\n        run: x\n\n      do-it:\n        name: Do It\n        run: 'y'\n"
        )
    }

    @Test func `a matrix makes copies`() throws {
        try expect(
            """
              a:
                strategy: { matrix: { os: [x, z], node-version: [18, 3.10], exclude: [{ os: x, node-version: 18 }] } }
                runs-on: ubuntu-latest
                steps: [{ run: 'echo ${{ matrix.node-version }} "${{ matrix.os }}"' }]
            """,
            "matrix:\n      os: [x, z]\n      node_version: [18, 3.10]\n      exclude: [{ os: x, node_version: 18 }]\n    fail-fast: true\n",
            "run: echo $node_version \"$os\"\n")
        try expect(
            "  l: { outputs: { v: '${{ steps.f.outputs.v }}' }, runs-on: ubuntu-latest, steps: [{ id: f, run: 'echo v=[1] >> $GITHUB_OUTPUT' }] }\n"
                + "  a:\n    needs: l\n    strategy: { matrix: { x: '${{ fromJSON(needs.l.outputs.v) }}' } }\n    runs-on: ubuntu-latest\n    steps: [{ run: 'echo ${{ matrix.x }}' }]\n",
            "as: x\n", "run: echo $x\n", "echo v=[1] >> $FLOWRUN_OUTPUT", "outputs:\n          v: string\n")
    }

    @Test func `what comes behind a step that runs after a failure needs those before it`() throws {
        try expect(
            "  a: { runs-on: ubuntu-latest, steps: [{ run: b }, { if: always(), run: c }, { if: failure(), run: d }, { run: e }, { run: f }] }\n",
            "      c:\n        if: always()\n", "      d:\n        needs: [b]\n        if: failure()\n",
            "      e:\n        needs: [b, c]\n        run: e\n", "      f:\n        run: f\n")
    }

    @Test func `inputs are parameters`() throws {
        try expect(
            "  a: { runs-on: ubuntu-latest, steps: [{ run: 'echo ${{ inputs.dry-run }} ${{ github.event.inputs.to }}' }] }\n",
            top:
                "on: { workflow_dispatch: { inputs: { dry-run: { type: boolean, default: true }, to: { type: choice, options: [x, z] } } } }\n",
            "dry_run: { type: bool, default: true }", "to: { type: enum, values: [x, z], default: x }",
            "run: echo $dry_run $to\n")
    }

    @Test func `secrets come from the environment, to the steps that read them`() throws {
        try expect(
            "  a: { runs-on: ubuntu-latest, steps: [{ run: x, env: { T: '${{ secrets.TOKEN }}' } }, { run: 'curl ${{ secrets.KEY }}' }, { run: z }] }\n",
            "secrets:\n  T: { env: TOKEN }\n  KEY: { env: KEY }\n", "secrets: [T]\n        run: x\n",
            "secrets: [KEY]\n        run: curl $KEY\n")
    }

    @Test func `expressions in scripts go through the environment`() throws {
        try expect(
            "  a: { runs-on: ubuntu-latest, steps: [{ id: m, run: 'echo n=1 >> \"$GITHUB_OUTPUT\"' }, { run: 'echo ${{ steps.m.outputs.n }} ${{ github.sha }}' }] }\n",
            "env:\n          STEPS_M_OUTPUTS_N: ${{ steps.m.outputs.n ?? '' }}\n",
            "run: echo $STEPS_M_OUTPUTS_N ${GITHUB_SHA:?}\n")
    }

    @Test func `steps that are alike have ids of their own`() throws {
        try expect(
            "  a: { runs-on: ubuntu-latest, steps: [{ run: make x }, { run: make x }, { name: Go, run: ./x }, { name: Go, run: 'y' }] }\n",
            "make-x:\n", "make-x-2:\n", "go:\n", "go-2:\n        name: Go\n        run: 'y'\n")
    }

    @Test func `what chooses between two texts is if()`() throws {
        try expect(
            "  a:\n    strategy: { matrix: { v: [x, z] } }\n"
                + "    runs-on: ubuntu-latest\n    steps: [{ run: \"echo ${{ (matrix.v == 'x' || matrix.v == 'z') && '-a b' || '-c' }}\" }]\n",
            "${{ if((v == 'x' || v == 'z'), '-a b', '-c') }}")
        // Neither of these is one.
        try expect(
            "  a: { if: \"success() && env.A == 'b' || failure()\", runs-on: ubuntu-latest, steps: [{ run: x }] }\n",
            "if: success() && ")
    }

    @Test func `commands to the runner are not kept as if they did something`() throws {
        try expect(
            "  a: { runs-on: ubuntu-latest, steps: [{ run: 'echo \"::set-output name=x::1\"' }] }\n",
            "`::set-output` is a command to GitHub's runner", "exit 1")
    }

    @Test func `conditions are translated`() throws {
        try expect(
            "  a: { if: \"github.ref == 'refs/heads/main' && !cancelled()\", runs-on: ubuntu-latest, steps: [{ run: x }] }\n  b: { needs: a, if: \"${{ always() && needs.a.result == 'failure' }}\", runs-on: ubuntu-latest, steps: [{ run: 'y' }] }\n",
            "if: lower(env.GITHUB_REF ?? '') == 'refs/heads/main' && !cancelled()",
            "if: always() && if(steps.a.outcome == 'timeout', 'failure', ",
            "if(steps.a.outcome == 'not-run', 'skipped', steps.a.outcome)) == 'failure'")
        try expect(
            "  a: { if: \"contains(env.X, 'Yes') || 'Main' != github.ref_name\", runs-on: ubuntu-latest, steps: [{ id: s, run: x }, { if: steps.s.outcome == 'success', run: 'y' }] }\n",
            "contains(lower(env.X ?? ''), 'yes') || 'main' != lower(env.GITHUB_REF_NAME ?? '')",
            "if: steps.s.outcome == 'success'")
        try expect(
            "  a: { runs-on: ubuntu-latest, steps: [{ id: s, run: x }, { if: steps.s.conclusion == 'success', run: z }] }\n",
            "flowrun has nothing like the condition `steps.s.conclusion")
    }

    @Test func `a job that needs a skipped one is skipped, unless its condition looks at outcomes`() throws {
        try expect(
            "  a: { if: \"env.A == '1'\", runs-on: ubuntu-latest, steps: [{ run: x }] }\n"
                + "  w: { runs-on: windows-latest, steps: [{ run: x }] }\n"
                + "  b: { needs: [a, w], runs-on: ubuntu-latest, steps: [{ run: 'y' }] }\n"
                + "  c: { needs: b, if: \"env.C == '1'\", runs-on: ubuntu-latest, steps: [{ run: 'y' }] }\n"
                + "  d: { needs: b, if: always(), runs-on: ubuntu-latest, steps: [{ run: 'y' }] }\n"
                + "  e: { runs-on: ubuntu-latest, steps: [{ run: x }] }\n"
                + "  f: { needs: e, runs-on: ubuntu-latest, steps: [{ run: x }] }\n",
            "if: steps.a.outcome != 'skipped' && steps.w.outcome != 'skipped'\n",
            "if: steps.b.outcome != 'skipped' && ((env.C ?? '') == '1')\n", "if: always()\n",
            "needs: [e]\n    isolate: copy\n")
    }

    @Test func `actions that make a machine ready are left out with a comment, others have to be filled in`() throws {
        try expect(
            "  a: { runs-on: ubuntu-latest, steps: [{ uses: actions/checkout@v4 }, { run: x }, { uses: acme/deploy@v1, with: { to: prod } }] }\n",
            "# ci.yml:2: the job works in a copy of the tree as it is\n",
            "flowrun runs no actions, write the commands", "to: prod")
        try expect(
            "  a: { uses: ./.github/workflows/b.yml }\n",
            "flowrun does not call the workflow `./.github/workflows/b.yml`")
    }

    @Test func `settings of jobs and steps`() throws {
        try expect(
            "  a: { timeout-minutes: 90, continue-on-error: true, runs-on: ubuntu-latest, env: { A: 1 }, steps: [{ run: x, shell: python, working-directory: w, timeout-minutes: 60 }, { run: 'y' }] }\n",
            top: "defaults: { run: { shell: sh } }\n",
            "defaults: { shell: sh }", "timeout: 90m", "continue-on-error: true", "shell: [python3, -c]",
            "working-directory: w",
            "timeout: 1h", "A: '1'")
    }

    @Test func `the machine of a job says where its steps run`() throws {
        try expect(
            "  a: { runs-on: windows-latest, steps: [{ run: x }, { run: 'y' }] }\n",
            "      x:\n        platforms: [windows]\n        run: x\n", "platforms: [windows]\n        run: 'y'\n")
        try expect(
            "  a:\n    strategy: { matrix: { os: [ubuntu-latest, macos-latest] } }\n    runs-on: ${{ matrix.os }}\n"
                + "    steps: [{ run: x }]\n", "if: os == 'ubuntu-latest'\n")
        try expect(
            "  a: { runs-on: gpu, steps: [{ run: x }] }\n", "nothing is known about the machine `gpu`", "exit 1")
    }

    @Test func `a tool of a version is looked for, an artifact is handed on`() throws {
        try expect(
            "  a: { runs-on: ubuntu-latest, steps: [{ uses: actions/setup-go@v5, with: { go-version: '1.22' } }, { run: x }] }\n",
            "wanted=\"1.22\"\n", "go version", "needs Go $wanted, here is")
        try expect(
            "  a: { runs-on: ubuntu-latest, steps: [{ uses: actions/upload-artifact@v4, with: { path: dist } }, { run: x }] }\n",
            "artifact=\"$FLOWRUN_TEMP/artifacts/artifact\"\n", "cp -R \"dist/.\" \"$artifact\"\n")
    }

    @Test func `what changes the environment of others has to be filled in`() throws {
        try expect(
            "  a: { runs-on: ubuntu-latest, steps: [{ run: 'echo A=1 >> $GITHUB_ENV' }] }\n",
            "no step changes the environment of later ones")
        try expect(
            "  a: { runs-on: ubuntu-latest, steps: [{ run: 'echo x >> $GITHUB_STEP_SUMMARY' }] }\n",
            "GITHUB_STEP_SUMMARY=\"${GITHUB_STEP_SUMMARY:-/dev/null}\"")
    }

    @Test func `an expression without a counterpart gives up its step, not the job`() throws {
        try expect(
            "  a: { runs-on: ubuntu-latest, steps: [{ run: 'echo ${{ job.status }}' }, { run: z }] }\n",
            "flowrun has nothing like `${{ job.status }}`", "run: z\n")
        try expect(
            "  a: { if: 'github.event.x > 1', runs-on: ubuntu-latest, steps: [{ run: x }] }\n",
            "flowrun has nothing like the condition `github.event.x > 1`")
    }
}
