#!/usr/bin/env python3
"""Resumes random workflows after failures, kills, hooks and edits, and holds what runs again against the rules.

    torture_resume_rules.py FLOWRUN [RUNS]

Each life is a random workflow with groups, fan-outs, rounds, tolerated failures, conditions and hooks, with and without
`undoes`, whose steps write files out of what they read. It is run, killed, interrupted, edited and resumed a few times,
some of it with flipped bytes in the state folder or at another time of the wall clock, until a run gets through. Then every file must be what a run of the
same workflow writes in a fresh folder; and every step of every run must have been taken over or run again as the rules
say. Some groups run in copies of the tree: there each step looks for what the steps that it needs have left in the same
copy, whatever was taken over. The rules here are written from the manual, and know a step by what made it: a result is known by the run and round
that have made it, and was made out of a definition and of the results that it needed. So it is still good if all these
are the same now. Prints a table; exits with 1 if a rule was broken.
"""

import copy
import glob
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter


# The exit code of a step in a copy of the tree that lacks files.
LACKS_FILES = 97


class Step:
    members = None

    def __init__(self, rng, name, visible):
        self.name, self.version, self.wait = name, rng.randrange(1000), rng.choice([0, 0, 0, 1, 2])
        self.needs = {need: rng.choice(["", "", "", "success", "done"]) for need in choose(rng, visible, 2)}
        self.reads = rng.random() < 0.7
        self.takes_arguments = rng.random() < 0.15
        self.is_separate = self.is_detached = False
        self.is_tolerated = rng.random() < 0.15
        self.condition = rng.choice(["maybe"] + [None] * 9 + ["success()"])
        self.limit = "9m"


class Group:
    def __init__(self, rng, name, visible, depth):
        self.name, self.condition, self.limit = name, None, "9m"
        self.needs = {need: rng.choice(["", "", "done"]) for need in choose(rng, visible, 1)}
        self.is_tolerated = False
        self.items = rng.sample(["p", "q", "r"], rng.randint(1, 3)) if rng.random() < 0.3 and depth else None
        self.attempts = 2 if rng.random() < 0.25 and depth else 1
        self.is_isolated = bool(depth) and rng.random() < 0.2
        self.members, self.hooks = [], {"on-failure": [], "finally": []}
        visible = list(visible)
        for number in range(rng.randint(2, 5 if depth else 6)):
            self.add(rng, visible, depth)
        for kind in self.hooks:
            for number in range(rng.choice([0, 0, 1, 1, 2]) if depth else rng.choice([0, 0, 0, 1])):
                self.hooks[kind].append(Hook(rng, "h%d" % number, [member.name for member in self.members], depth))

    def add(self, rng, visible, depth):
        name = "n%d" % rng.randrange(10 ** 6)
        deep = depth < 2 and rng.random() < 0.35
        self.members.append(Group(rng, name, visible, depth + 1) if deep else Step(rng, name, visible))
        visible.append(name)


class Hook:
    """Clears files of what it undoes; says so, or nothing, which says all."""

    def __init__(self, rng, name, members, depth):
        self.name, self.version = name, rng.randrange(1000)
        self.effect = [] if rng.random() < 0.5 else choose(rng, members, 2)
        self.undoes = None if rng.random() < (0.5 if depth else 0.1) else \
            list(dict.fromkeys(self.effect + choose(rng, members, 1 if rng.random() < 0.3 else 0)))
        if not depth and self.undoes is None and rng.random() < 0.5:
            self.effect = members


def choose(rng, names, most):
    return rng.sample(names, min(len(names), rng.randint(0, most)))


class Workflow:
    def __init__(self, rng):
        self.top = Group(rng, "", [], 0)
        self.is_reordered = False

    def walk(self, group=None, scope=()):
        """Everything with the groups around it, outermost first."""
        group = group or self.top
        for member in group.members:
            yield member, scope + (group,)
            if member.members is not None:
                yield from self.walk(member, scope + (group,))

    def steps(self):
        return [step for step, _ in self.walk() if step.members is None]

    def takes_arguments(self):
        return any(step.takes_arguments for step in self.steps())


def file_of(ids):
    return "out/" + ids.replace("[", "@").replace("]", "")


class Text:
    """The file of a workflow, and what it means: ids of copies, needs, definitions."""

    def __init__(self, workflow, argument, maybe):
        self.workflow, self.argument, self.maybe = workflow, argument, maybe
        self.steps, self.groups, self.hooks = {}, {}, {}
        self.inside = {}
        # By step or group: the innermost group in a copy of the tree around it, or that it is; "" for the tree itself.
        self.trees = {"": ""}
        self.by_name = {member.name: member for member, _ in workflow.walk()}
        self.place(workflow.top, (), "", {})

    def place(self, group, scope, prefix, around):
        """Notes all copies below a copy of a group whose id is `prefix`; `around` are ids by visible name."""
        visible = dict(around)
        for member in group.members:
            visible[member.name] = (prefix and prefix + ".") + member.name
        for kind, hooks in group.hooks.items():
            for hook in hooks:
                self.hooks[(prefix and prefix + ".") + kind + "." + hook.name] = (prefix, hook)
        for member in group.members:
            ids = visible[member.name]
            needs = [(visible[need], kind) for need, kind in self.kinds(member).items()]
            self.trees[ids] = self.trees[prefix]
            if member.members is None:
                self.steps[ids] = (member, prefix, needs, scope + (group,))
                self.note(ids, ids)
                continue
            self.groups[ids] = (member, prefix, needs)
            if member.items is None:
                self.trees[ids] = ids if member.is_isolated else self.trees[prefix]
                self.place(member, scope + (group,), ids, visible)
            else:
                for item in member.items:
                    one = "%s[%s]" % (ids, item)
                    self.trees[one] = one if member.is_isolated else self.trees[prefix]
                    self.groups[one] = (None, ids, [])
                    self.place(member, scope + (group,), one, visible)

    def kinds(self, member):
        """Only what cannot be skipped or tolerated is asked for its success, so that the end of a life runs all."""
        kinds = {need: "" if kind == "success" and self.by_name[need].members is None
                 and (self.by_name[need].is_tolerated or self.by_name[need].condition == "maybe") else kind
                 for need, kind in member.needs.items() if need in self.by_name}
        # The file can say all kinds or none.
        return kinds if all(kinds.values()) else dict.fromkeys(kinds, "")

    def note(self, ids, step):
        while ids:
            self.inside.setdefault(ids, []).append(step)
            ids = self.steps[ids][1] if ids in self.steps else self.parent(ids)

    def parent(self, ids):
        if ids in self.groups:
            return self.groups[ids][1]
        # Not placed yet: copies and groups of the one that is being placed.
        return ids[:ids.rindex("[")] if ids.endswith("]") else ids.rpartition(".")[0]

    def needs(self, ids):
        """Of a step or group and of those around it."""
        found = []
        while ids:
            entry = self.steps.get(ids) or self.groups[ids]
            found += entry[2]
            ids = entry[1]
        return found

    def reads(self, ids):
        """The steps whose files it reads, in order, but those that may be skipped."""
        step, _, needs, _ = self.steps[ids]
        if not step.reads:
            return []
        return [inner for need, _ in needs for inner in self.inside.get(need, [])
                if self.steps[inner][0].condition != "maybe"]

    def left_in_tree(self, ids):
        """The steps whose traces are in the copy of the tree that it runs in, whenever it runs."""
        tree = self.trees[ids]
        found, needs, around = [], [], ids
        while tree and around and around != tree:
            needs += [(need, kind, tree) for need, kind in (self.steps.get(around) or self.groups[around])[2]]
            around = self.parent(around) if around not in self.steps else self.steps[around][1]
        # A copy is made when what its group needs has ended.
        while around and around in self.groups:
            outer = self.groups[around][1]
            needs += [(need, kind, self.trees[outer]) for need, kind in self.groups[around][2]]
            if not self.trees[outer] or self.trees[outer] != self.trees.get(self.groups[outer][1] if outer else ""):
                break
            around = outer
        for need, kind, place in needs:
            if kind == "done" or not place:
                continue
            for inner in self.inside.get(need, []):
                if self.trees[inner] == place and self.is_certain(inner, need):
                    found.append(inner)
        return found

    def is_certain(self, ids, top):
        """False for a step that may not have started although what it is in has succeeded."""
        while True:
            step = self.steps.get(ids)
            condition = step[0].condition if step else None
            if condition == "maybe":
                return False
            needs = (step or self.groups[ids])[2]
            # Behind a failure that is tolerated somewhere, what needs a success does not start.
            if any(kind for _, kind in needs):
                return False
            if ids == top:
                return True
            ids = step[1] if step else self.groups[ids][1]

    def definition(self, ids):
        step = self.steps[ids][0]
        needs = sorted((need, kind, tuple(self.contents(need))) for need, kind in self.needs(ids))
        return (step.version, step.wait, step.is_separate, step.is_detached, step.takes_arguments and self.argument,
                step.takes_arguments, step.condition == "success()", tuple(self.reads(ids)), tuple(needs), self.trees[ids],
                bool(self.trees[ids]) and tuple(self.left_in_tree(ids)))

    def contents(self, need):
        """The steps in a group, its copies in the order of its list, and all else in any order."""
        if need in self.steps:
            return []
        group = self.groups[need][0]
        copies = ["%s[%s]" % (need, item) for item in group.items] if group and group.items else [need]
        return [step for copy in copies for step in sorted(self.inside.get(copy, []))]

    def is_skipped(self, ids):
        return self.steps[ids][0].condition == "maybe" and not self.maybe

    def undone_by(self, hook_id, command, body, said):
        """What a hook that has started counts as undoing: its body, and names in it or None for all."""
        known = self.hooks.get(hook_id)
        if known and self.command(known[1], body) == command:
            said = known[1].undoes
        return body, said

    # The text

    def command(self, hook, body):
        own = self.own(body)
        clear = " ".join(": > \"$f\";" for _ in [0])
        names = " ".join('"out/%s%s"* ' % (own, name) for name in hook.effect)
        loop = 'for f in %s; do case "$f" in %s) ;; *) %s esac; done; ' % (names, "*\\*", clear) if hook.effect else ""
        return 'cd "$FLOWRUN_INVOCATION_DIR"; %s: %d' % (loop, hook.version)

    def own(self, body):
        """The beginning of the files of a group's members, in the words of a script in it."""
        return "" if not body else self.in_script(body) + "."

    @staticmethod
    def in_script(ids):
        """The innermost fan-out's item is a variable, and the ones around it have their own."""
        parts, depth = [], 0
        for part in ids.split("."):
            name, bracket, _ = part.partition("[")
            if bracket:
                parts.append("%s@$item%d" % (name, depth))
                depth += 1
            else:
                parts.append(name)
        return ".".join(parts)

    def write(self, folder):
        lines = ["version: 1", "params: { maybe: { type: bool, default: true } }", "defaults: { shell: sh }", "steps:"]
        self.lines_of(self.workflow.top, "", "", lines, 1)
        with open(os.path.join(folder, "flowrun.yml"), "w") as file:
            file.write("\n".join(lines) + "\n")

    def lines_of(self, group, prefix, indent, lines, depth):
        members = reversed(group.members) if self.workflow.is_reordered else group.members
        for member in members:
            ids = (prefix and prefix + ".") + member.name
            pad = "  " * depth
            lines.append("%s%s:" % (pad, member.name))
            needs = self.kinds(member)
            if needs and all(needs.values()):
                lines.append("%s  needs: { %s }" % (pad, ", ".join("%s: %s" % need for need in needs.items())))
            elif needs:
                lines.append("%s  needs: [%s]" % (pad, ", ".join(needs)))
            lines.append("%s  timeout: %s" % (pad, member.limit))
            if member.is_tolerated:
                lines.append("%s  continue-on-error: true" % pad)
            if member.members is None:
                self.lines_of_step(member, ids, pad, lines)
                continue
            if member.attempts > 1:
                lines.append("%s  retry: { attempts: %d }" % (pad, member.attempts))
            if member.is_isolated:
                lines.append("%s  isolate: copy" % pad)
            one = ids
            if member.items:
                count = ids.count("[")
                lines.append("%s  for-each: [%s]" % (pad, ", ".join(member.items)))
                lines.append("%s  as: item%d" % (pad, count))
                one = "%s[%s]" % (ids, member.items[0])
            lines.append("%s  steps:" % pad)
            self.lines_of(member, one, indent, lines, depth + 2)
            self.hook_lines(member, one, pad + "  ", lines)
        if not prefix:
            self.hook_lines(group, "", "", lines)

    def hook_lines(self, group, body, pad, lines):
        for kind, hooks in group.hooks.items():
            if hooks:
                lines.append("%s%s:" % (pad, kind))
            for hook in hooks:
                said = "" if hook.undoes is None else "undoes: [%s], " % ", ".join(hook.undoes)
                lines.append("%s  %s: { %srun: '%s' }" % (pad, hook.name, said, self.command(hook, body)))

    def lines_of_step(self, step, ids, pad, lines):
        if step.condition:
            lines.append("%s  if: %s" % (pad, "params.maybe" if step.condition == "maybe" else step.condition))
        if step.is_separate:
            lines.append("%s  streams: separate" % pad)
        if step.is_detached:
            lines.append("%s  detach: true" % pad)
        own = self.in_script(ids)
        # A copy reads what is in its own copy.
        files = " ".join('"out/%s"' % self.relative(inner, ids) for inner in self.reads(ids))
        script = ['me="%s"' % own]
        if self.trees[ids]:
            traces = " ".join('"t-%s"' % self.relative(inner, ids) for inner in self.left_in_tree(ids))
            if traces:
                script.append('for f in %s; do [ -e "$f" ] || exit %d; done' % (traces, LACKS_FILES))
            script.append(': > "t-$me"')
        script += [
            'cd "$FLOWRUN_INVOCATION_DIR"', ': > "out/$me"',
            'if [ -e "fail/$me" ]; then read r < "fail/$me"; [ "$r" = 0 -a "$FLOWRUN_ROUND" != 0 ] || exit 1; fi',
            "h=%d" % step.version]
        if step.takes_arguments:
            script.append("h=$((h + $1))")
        if step.wait:
            script.append("sleep 0.00%d" % step.wait)
        if files:
            script.append('for f in %s; do x=0; [ ! -s "$f" ] || read x < "$f"; h=$(((h * 31 + x) %% 1000003)); done'
                          % files)
        script.append('echo $h > "out/$me"')
        lines.append("%s  run: |" % pad)
        lines += ["%s    %s" % (pad, line) for line in script]

    def relative(self, inner, ids):
        """The file of a step in the words of another one's script: what both are in is the same copy."""
        mine, theirs = ids.split("."), inner.split(".")
        parts, depth, common = [], 0, True
        for index, part in enumerate(theirs):
            name, bracket, item = part.partition("[")
            common = common and index < len(mine) and mine[index] == part
            if bracket:
                parts.append("%s@%s" % (name, "$item%d" % depth if common else item[:-1]))
                depth += 1
            else:
                parts.append(name)
        return ".".join(parts)


def digest(value):
    """Stands for a value that would double with each step on a chain."""
    return hashlib.sha256(repr(value).encode()).hexdigest()


class Oracle:
    """What has become of each step over the runs of a life, and what the rules say of the next one."""

    def __init__(self):
        self.results = {}
        self.starts = []
        self.moment = 0
        self.run = 0
        self.faults, self.tally = [], Counter()

    def read(self, events, text, asked, mayLack):
        """Takes in the events of one run. With `mayLack`, what the state folder has lost may run again."""
        self.run += 1
        self.text, self.asked = text, asked
        self.now, before, self.decided, self.copied = {}, {}, set(), set()
        for event in events:
            self.moment += 1
            kind, step = event["event"], event.get("step")
            if kind == "group.retry":
                for ids, result in self.results.items():
                    if ids.startswith(event["group"] + "."):
                        self.results[ids] = dict(result, outcome=None)
                        self.now.pop(ids, None)
            if step is None or kind not in (
                    "step.undoes", "step.rerun", "step.started", "step.restored", "step.finished"):
                continue
            if step in text.hooks:
                if kind == "step.undoes":
                    body, hook = text.hooks[step]
                    self.starts.append((self.moment, step, text.command(hook, body), body, hook.undoes))
                continue
            if step not in text.steps:
                self.faults.append("run %d: %s is no step" % (self.run, step))
                continue
            if kind == "step.restored":
                self.expect(step, "restored", mayLack)
                result = self.results.get(step)
                if result:
                    self.now[step] = result["is"]
                    self.results[step] = dict(result, moment=self.moment)
            elif kind in ("step.rerun", "step.started"):
                if event.get("reason") == "tree":
                    self.copied.add(step)
                if event.get("attempt", 1) == 1 and (step, event.get("round")) not in self.decided:
                    self.decided.add((step, event.get("round")))
                    if not event.get("round"):
                        self.expect(step, "run", mayLack)
                        before[step] = self.alike(step)
                    else:
                        before[step] = None
                    self.results[step] = {"outcome": None, "is": None, "moment": self.moment}
            elif event.get("attempt", 0) == 0:
                self.now[step] = ("absent", event["outcome"], self.basis(step))
                if event["outcome"] == "skipped":
                    self.results.pop(step, None)
            else:
                if event.get("exit_code") == LACKS_FILES:
                    self.faults.append("run %d: %s lacks files of its copy of the tree" % (self.run, step))
                made = (self.run, event.get("round") or 0, step)
                if before.get(step) and event["outcome"] == "failure" and event.get("tolerated"):
                    made = before[step]
                self.now[step] = made
                self.results[step] = {
                    "outcome": event["outcome"], "tolerated": event.get("tolerated", False), "is": made, "moment": self.moment,
                    "definition": text.definition(step), "basis": self.basis(step)}

        if any(event["event"] == "run.finished" and not event["counts"]["cancelled"] for event in events):
            # It came to all of its steps: what it did not have, or did not run, is from a run that no longer counts.
            self.results = {step: result for step, result in self.results.items()
                            if step in text.steps and self.now.get(step, ("absent",))[0] != "absent"}

    def basis(self, step):
        return digest(sorted((need, repr(self.identity(need))) for need, _ in self.text.needs(step)))

    def identity(self, ids):
        """The identity of a step or group: the runs that made all inside it and before it."""
        if ids in self.text.steps:
            return self.now.get(ids, "gone")
        # Hooks do not count, nor does what is in nothing.
        return digest(sorted((inner, repr(self.now.get(inner, "gone"))) for inner in self.text.inside.get(ids, []))
                      + [self.identity(need) for need, _ in self.text.groups[ids][2]])

    def is_undone(self, step, result):
        for moment, hook, command, body, said in self.starts:
            if moment < result["moment"] or body and not step.startswith(body + "."):
                continue
            body, said = self.text.undone_by(hook, command, body, said)
            member = step[len(body) + 1 if body else 0:].partition(".")[0].partition("[")[0]
            if said is None or member in said:
                return True
        return False

    def is_asked(self, step):
        return any(step == name or step.startswith((name + ".", name + "[")) for name in self.asked)

    def alike(self, step):
        """What has made a failure that was tolerated, and may come again as it was."""
        result = self.results.get(step)
        if not result or result["outcome"] != "failure" or not result["tolerated"]:
            return None
        if self.is_asked(step) or self.is_undone(step, result):
            return None
        same = result["definition"] == self.text.definition(step) and result["basis"] == self.basis(step)
        return result["is"] if same else None

    def expect(self, step, decision, mayLack):
        result = self.results.get(step)
        if not result or result["outcome"] != "success":
            why = "it has no result"
        elif self.is_asked(step):
            why = "--from asks for it"
        elif self.is_undone(step, result):
            why = "a hook has undone it"
        elif result["definition"] != self.text.definition(step):
            why = "its definition has changed"
        elif result["basis"] != self.basis(step):
            why = "something that it needs ran again"
        else:
            why = None
        if why is None and decision == "run" and step in self.copied and self.text.trees[step]:
            why = "its group runs in a new copy of the tree"
        self.tally[decision, why or "it is as it was"] += 1
        if (decision == "run") == (why is None) and not (decision == "run" and mayLack):
            self.faults.append("run %d: %s is to be %s, and was %s: %s" % (
                self.run, step, "restored" if why is None else "run", decision, why or "it is as it was"))


def journal(folder, seen):
    """The events of the newest run, those that have been read before left out."""
    runs = [path for path in glob.glob(os.path.join(folder, ".flowrun", "runs", "*")) if path not in seen]
    if not runs:
        return []
    seen.update(runs)
    try:
        with open(os.path.join(runs[0], "journal.jsonl"), "rb") as file:
            lines = file.read().split(b"\n")
    except FileNotFoundError:
        return []
    return [record for record in (json.loads(line) for line in lines[:-1]) if "event" in record]


def edit(rng, workflow):
    """Changes something, or nothing. Returns what."""
    members = [member for member, _ in workflow.walk()]
    steps = workflow.steps()
    step, member = rng.choice(steps), rng.choice(members)
    what = rng.choice(["nothing"] * 4 + ["script", "need", "kind", "streams", "detach", "limit", "order", "hook",
                                         "undoes", "member", "items", "gone", "condition",
                                         "isolate"])
    if what == "script":
        step.version += 1
    elif what == "need":
        for found, scope in workflow.walk():
            if found is member:
                before = [one.name for one in scope[-1].members[:scope[-1].members.index(member)]]
                names = [name for name in before if name not in member.needs]
                if names:
                    member.needs[rng.choice(names)] = ""
                elif member.needs:
                    member.needs.popitem()
    elif what == "kind" and member.needs:
        name = rng.choice(list(member.needs))
        member.needs[name] = rng.choice(["success", "done", ""])
    elif what == "streams":
        step.is_separate = not step.is_separate
    elif what == "detach":
        step.is_detached = not step.is_detached
    elif what == "limit":
        member.limit = rng.choice(["8m", "9m", "20m"])
    elif what == "order":
        workflow.is_reordered = not workflow.is_reordered
    elif what == "isolate":
        groups = [group for group in members if group.members is not None]
        if groups:
            group = rng.choice(groups)
            group.is_isolated = not group.is_isolated
    elif what == "condition" and step.condition is None:
        step.condition = "success()"
    elif what in ("hook", "undoes"):
        hooks = [hook for group in members + [workflow.top] if group.members is not None
                 for all_of in group.hooks.values() for hook in all_of]
        if hooks:
            hook = rng.choice(hooks)
            if what == "hook":
                hook.version += 1
            elif not hook.effect:
                hook.undoes = [] if hook.undoes is None else None
    elif what == "member":
        groups = [group for group in members + [workflow.top] if group.members is not None]
        group = rng.choice(groups)
        group.members.append(Step(rng, "n%d" % rng.randrange(10 ** 6), []))
    elif what == "items":
        groups = [group for group in members if group.members is not None and group.items]
        if groups:
            rng.choice(groups).items[:] = rng.sample(["p", "q", "r"], rng.randint(1, 3))
    elif what == "gone":
        for group in [workflow.top] + [one for one in members if one.members is not None]:
            if len(group.members) > 1 and rng.random() < 0.5:
                gone = group.members.pop()
                for hooks in group.hooks.values():
                    for hook in hooks:
                        if gone.name in hook.effect:
                            hook.effect.remove(gone.name)
                        if hook.undoes and gone.name in hook.undoes:
                            hook.undoes.remove(gone.name)
                break
    return what


def flip(rng, folder):
    """Changes one byte of the state folder."""
    files = [path for path in glob.glob(os.path.join(folder, ".flowrun", "**", "*"), recursive=True)
             if os.path.isfile(path) and os.path.getsize(path)]
    if not files:
        return
    with open(rng.choice(files), "r+b") as file:
        size = os.fstat(file.fileno()).st_size
        place = rng.randrange(size)
        file.seek(place)
        byte = file.read(1)[0]
        file.seek(place)
        file.write(bytes([byte ^ 1 << rng.randrange(8)]))


def start(flowrun, folder, argument, maybe, options=()):
    """`flowrun` is the words of the command."""
    words = flowrun + ["-j", "3", "--log", "quiet", "--param", "maybe=" + str(maybe).lower()] + list(options)
    return subprocess.Popen(words + (["--", str(argument)] if argument is not None else []), cwd=folder,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def child(pid):
    try:
        with open("/proc/%d/task/%d/children" % (pid, pid)) as file:
            return int(file.read().split()[0])
    except (OSError, IndexError, ValueError):
        return None


def contents(folder, text, skipped):
    found = {}
    for ids in text.steps:
        if ids in skipped:
            continue
        try:
            with open(os.path.join(folder, file_of(ids))) as file:
                found[ids] = file.read()
        except FileNotFoundError:
            found[ids] = ""
    return found


def write_failures(folder, text, failures):
    shutil.rmtree(os.path.join(folder, "fail"))
    os.mkdir(os.path.join(folder, "fail"))
    for ids, rounds in failures.items():
        if ids in text.steps:
            with open(os.path.join(folder, "fail", file_of(ids)[4:]), "w") as file:
                file.write(rounds + "\n")


def clock_shim():
    """A program that runs another one at a shifted time; None where it cannot trace."""
    shim = os.path.join(tempfile.mkdtemp(prefix="flowrun-torture-"), "clockshift")
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "clockshift.c")
    subprocess.run(["cc", "-O2", "-o", shim, source], check=True)
    return shim if subprocess.run([shim, "1", "true"]).returncode == 0 else None


def new_folder():
    folder = tempfile.mkdtemp(prefix="flowrun-torture-")
    for name in ("out", "fail"):
        os.mkdir(os.path.join(folder, name))
    return folder


def is_sound(flowrun, folder):
    return subprocess.run(flowrun + ["check"], cwd=folder, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode == 0


def has_rounds(text, ids):
    while ids:
        if ids in text.groups and text.groups[ids][0] and text.groups[ids][0].attempts > 1:
            return True
        ids = text.parent(ids) if ids not in text.steps else text.steps[ids][1]
    return False


def live(flowrun, shim, rng, tally):
    """One workflow from its first run to the end. Returns faults."""
    workflow, folder, seen, oracle = Workflow(rng), new_folder(), set(), Oracle()
    faults = []
    is_flipped = False
    failures, tolerated, last = {}, {}, 0.05
    count = rng.randint(2, 5)
    for number in range(count + 1):
        is_last = number == count
        given = rng.randint(1, 2)
        maybe = rng.random() < 0.8
        if number:
            changed = copy.deepcopy(workflow)
            what = edit(rng, changed)
            text = Text(changed, given if changed.takes_arguments() else None, maybe)
            text.write(folder)
            if is_sound(flowrun, folder):
                workflow = changed
                tally["edits: " + what] += 1
        argument = given if workflow.takes_arguments() else None
        text = Text(workflow, argument, maybe)
        text.write(folder)
        ids = list(text.steps)
        if is_last:
            failures = {step: rounds for step, rounds in failures.items() if rounds == "0" and has_rounds(text, step)}
        elif rng.random() < 0.6:
            failures = {step: "0" if has_rounds(text, step) and rng.random() < 0.6 else "any"
                        for step in rng.sample(ids, min(len(ids), rng.randint(0, 2)))}
        for step in ids:
            # Once a failure that is tolerated has not come, it comes no more: the result stays.
            if step not in tolerated or tolerated[step] and rng.random() < 0.15:
                tolerated[step] = step not in tolerated and text.steps[step][0].is_tolerated and rng.random() < 0.7
        failures = {step: rounds for step, rounds in failures.items()
                    if step in text.steps and not text.steps[step][0].is_tolerated}
        failures.update({step: "any" for step in ids if tolerated[step] and text.steps[step][0].is_tolerated})
        write_failures(folder, text, failures)
        asked = [rng.choice(ids)] if number and rng.random() < 0.1 else []
        options = (["--resume"] if number else []) + [word for name in asked for word in ("--from", name)]
        begin = time.monotonic()
        shift = [shim, str(rng.choice([1, -1]) * rng.choice([1, 3600, 86400 * 400]))] \
            if shim and rng.random() < 0.15 else []
        process = start(shift + flowrun, folder, argument, maybe, options)
        tally["runs"] += 1
        if shift:
            tally["runs with another clock"] += 1
        end = "killed" if rng.random() < 0.2 else "interrupted" if rng.random() < 0.12 else "ended"
        output = b""
        try:
            output, _ = process.communicate(timeout=None if is_last or end == "ended" else rng.uniform(0, last))
            end = "ended"
            last = time.monotonic() - begin
        except subprocess.TimeoutExpired:
            # What was started is the guard, whose child is the runner; below the shim, the guard is a child itself.
            guard = child(process.pid) if shift else process.pid
            target = (child(guard) if guard and end == "killed" else None) or guard or process.pid
            try:
                os.kill(target, signal.SIGKILL if end == "killed" else signal.SIGINT)
            except ProcessLookupError:
                pass
            output, _ = process.communicate()
        tally["runs " + end] += 1
        if process.returncode not in (0, 1, -signal.SIGKILL, -signal.SIGINT, 75, 137):
            if not (is_flipped and process.returncode == 125):
                faults.append("run %d: ended with %d: %s" % (number, process.returncode, output.decode()[:400]))
        oracle.read(journal(folder, seen), text, asked, is_flipped)
        if not is_last and not os.environ.get("NOFLIP") and rng.random() < 0.1:
            flip(rng, folder)
            is_flipped = True
            tally["flipped bytes"] += 1
    if process.returncode != 0:
        faults.append("the last run ended with %d: %s" % (process.returncode, output.decode()[:400]))
    fresh = new_folder()
    text.write(fresh)
    write_failures(fresh, text, failures)
    process = start(flowrun, fresh, argument, maybe)
    output, _ = process.communicate()
    if process.returncode != 0:
        faults.append("a fresh run ended with %d: %s" % (process.returncode, output.decode()[:400]))
    skipped = {step for step in text.steps if text.is_skipped(step)}
    ours, theirs = contents(folder, text, skipped), contents(fresh, text, skipped)
    tally["lives"] += 1
    tally["files compared"] += len(ours)
    for step in ours:
        if ours[step] != theirs[step]:
            faults.append("%s has left %r, and %r in a fresh run" % (step, ours[step], theirs[step]))
    faults += oracle.faults
    for key, value in oracle.tally.items():
        tally["%s because %s" % key] += value
    if faults and os.environ.get("KEEP"):
        faults.append("kept in %s and %s" % (folder, fresh))
    else:
        shutil.rmtree(folder)
        shutil.rmtree(fresh)
    return faults


def main():
    flowrun, shim = [os.path.abspath(sys.argv[1])], clock_shim()
    wanted = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    seed = int(os.environ.get("SEED", time.time_ns() % 1_000_000))
    print("seed %d" % seed, flush=True)
    tally, faults, number = Counter(), [], 0
    # A run that is interrupted still prints its table.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        while tally["runs"] < wanted and len(faults) < 50:
            found = live(flowrun, shim, random.Random("%d/%d" % (seed, number)), tally)
            faults += ["life %d: %s" % (number, fault) for fault in found]
            number += 1
    except KeyboardInterrupt:
        print("ended early")
    for key in sorted(tally):
        print("%-60s %8d" % (key, tally[key]))
    print("%-60s %8d" % ("rules broken", len(faults)))
    for fault in faults[:20]:
        print("  " + fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
