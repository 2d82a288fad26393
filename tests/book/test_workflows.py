"""The workflows: they are valid and safe, their scripts parse and work, the commands that they name exist, only GitHub's own actions are used."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from bookext import address
from bookext.chapters import ROOT

FOLDER = ROOT / ".github/workflows"
WORKFLOWS = {path.stem: yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.yml"))}  # fmt: skip
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def steps(workflow: dict) -> list[dict]:
    return [step for job in workflow["jobs"].values() for step in job.get("steps", ())]


def script(workflow: str, name: str) -> str:
    return next(step["run"] for step in steps(WORKFLOWS[workflow]) if step.get("name") == name)


def run(code: str, folder: Path, **variables: str) -> subprocess.CompletedProcess:
    """Run a step as GitHub does."""
    return subprocess.run(["bash", "-e", "-o", "pipefail", "-c", code], cwd=folder, env={**os.environ, **variables}, capture_output=True, text=True)  # fmt: skip


def test_the_workflows_are_there():
    assert set(WORKFLOWS) == {"test", "publish", "release", "weekly", "links"}


def tool(name: str, *arguments: str) -> subprocess.CompletedProcess:
    """Run a program of the environment."""
    program = Path(sys.executable).with_name(name)
    return subprocess.run([program, *arguments], cwd=ROOT, capture_output=True, text=True)


def test_the_workflows_are_valid():
    checked = tool("check-jsonschema", "--builtin-schema", "vendor.github-workflows", *map(str, FOLDER.glob("*.yml")))  # fmt: skip
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_workflows_are_safe_but_for_what_is_left_out_with_a_reason():
    checked = tool("zizmor", "--offline", "--quiet", ".github")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    rules = yaml.safe_load((ROOT / ".github/zizmor.yml").read_text(encoding="utf-8"))["rules"]
    assert set(rules) == {"self-repository"}


def test_a_workflow_that_is_not_valid_or_not_safe_is_noticed(tmp_path):
    folder = tmp_path / ".github/workflows"
    folder.mkdir(parents=True)
    good = (FOLDER / "links.yml").read_text(encoding="utf-8")
    (folder / "links.yml").write_text(good.replace("runs-on: ubuntu-latest", "runs: ubuntu-latest"))
    assert tool("check-jsonschema", "--builtin-schema", "vendor.github-workflows", str(folder / "links.yml")).returncode == 1  # fmt: skip
    for change in (("persist-credentials: false", "fetch-depth: 1"), (r"@[0-9a-f]{40}", "@v6")):
        (folder / "links.yml").write_text(re.sub(*change, good))
        assert tool("zizmor", "--offline", "--quiet", str(folder)).returncode > 0


def test_one_action_has_one_hash_and_says_its_version():
    used = re.findall(r"uses: (actions/\S+)@(\S+) # (v\d+\.\d+\.\d+)$", "\n".join(path.read_text(encoding="utf-8") for path in FOLDER.glob("*.yml")), re.MULTILINE)  # fmt: skip
    assert len(used) == sum("uses" in step for workflow in WORKFLOWS.values() for step in steps(workflow))
    assert len(set(used)) == len({action for action, _, _ in used})


@pytest.mark.parametrize("name", WORKFLOWS)
def test_scripts_parse_and_name_what_exists(name):
    for step in steps(WORKFLOWS[name]):
        if "run" not in step:
            continue
        parsed = subprocess.run(["bash", "-n"], input=step["run"], text=True, capture_output=True)
        assert parsed.returncode == 0, parsed.stderr
        for targets in re.findall(r"^make (.+)$", step["run"], re.MULTILINE):
            assert {word for word in targets.split() if "=" not in word} <= TARGETS
        for file in re.findall(r"^bash (\S+)", step["run"], re.MULTILINE):
            assert (ROOT / file).exists()


@pytest.mark.parametrize("name", WORKFLOWS)
def test_only_actions_of_github_and_of_this_repository_are_used(name):
    jobs = WORKFLOWS[name]["jobs"].values()
    for used in [step["uses"] for step in steps(WORKFLOWS[name]) if "uses" in step] + [job["uses"] for job in jobs if "uses" in job]:  # fmt: skip
        assert re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40}|\./\.github/[\w./-]+", used)
        assert not used.startswith("./") or (ROOT / used).exists()


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_workflow_may_do_no_more_than_it_says_and_ends(name):
    workflow = WORKFLOWS[name]
    assert workflow["permissions"]["contents"] == "read"
    assert workflow["concurrency"]
    for job in workflow["jobs"].values():
        assert "uses" in job or job["timeout-minutes"] <= 120


def test_the_weekly_run_is_cold_and_plants_every_mistake_in_full():
    weekly = WORKFLOWS["weekly"]
    assert weekly["env"]["COLD"] == "1"
    assert [step for step in steps(weekly) if "cache" in step.get("uses", "")] == []
    commands = weekly["jobs"]["cold"]["strategy"]["matrix"]["command"]
    shares = [re.fullmatch(r"make mistakes SHARE=(\d)/(\d)", command) for command in commands]
    shares = [match.groups() for match in shares if match]
    assert shares == [(str(k + 1), str(len(shares))) for k in range(len(shares))] != []


def test_what_was_kept_is_restored_where_the_book_is_built_often():
    for name in ("test", "publish"):
        (kept,) = [
            step["with"] for step in steps(WORKFLOWS[name]) if "actions/cache@" in step.get("uses", "")
        ]
        assert kept["path"] == "~/.cache/shallowformer"
        assert kept["key"].startswith(kept["restore-keys"])


def test_nothing_is_published_before_the_tests_pass():
    jobs = WORKFLOWS["publish"]["jobs"]
    assert jobs["test"]["uses"] == "./.github/workflows/test.yml"
    assert jobs["build"]["needs"] == "test"
    assert jobs["site"]["needs"] == jobs["notebooks"]["needs"] == "build"
    triggers = WORKFLOWS["test"][True]  # YAML 1.1 reads the key "on" as true
    assert "workflow_call" in triggers
    assert set(triggers["push"]["branches-ignore"]) == {address.branch(), address.NOTEBOOKS_BRANCH}
    assert WORKFLOWS["publish"][True]["push"]["branches"] == [address.branch()]


def test_a_release_follows_a_tag_whose_tests_pass_and_has_nothing_for_instructors(tmp_path):
    release = WORKFLOWS["release"]
    assert release[True] == {"push": {"tags": ["v*"]}}
    jobs = release["jobs"]
    assert jobs["test"]["uses"] == "./.github/workflows/test.yml"
    assert (jobs["build"]["needs"], jobs["attach"]["needs"]) == ("test", ["build", "notebooks"])
    uploads = [step["with"]["path"] for step in steps(release) if "upload-artifact" in step.get("uses", "")]
    assert uploads == ["_build/release/*/public", "_build/notebooks"]

    gh, code = tmp_path / "gh", script("release", "Attach the files to a release of the tag")
    gh.write_text('#!/bin/sh\necho "$@"\n')
    gh.chmod(0o755)
    files = tmp_path / "release/1.2.3/public"
    files.mkdir(parents=True)
    variables = {"RUNNER_TEMP": str(tmp_path), "GITHUB_REF_NAME": "v1.2.3", "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}  # fmt: skip
    for name in ("SHA256SUMS", "shallowformer-1.2.3-site.zip", "shallowformer-1.2.3.pdf"):
        (files / name).write_text(name)
    done = run(code, tmp_path, **variables)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("release create v1.2.3 --verify-tag")
    assert [Path(word).name for word in done.stdout.split()[-3:]] == sorted(path.name for path in files.iterdir())  # fmt: skip
    (files / "shallowformer-1.2.3-course-for-instructors.zip").write_text("no")
    refused = run(code, tmp_path, **variables)
    assert refused.returncode == 1
    assert "release create" not in refused.stdout


def test_the_notebooks_become_the_only_commit_of_their_branch(tmp_path):
    code = script("publish", "Make them the only commit of their branch")
    start = """
        git init --quiet --bare hub.git
        git init --quiet --initial-branch=main clone && cd clone
        git config user.name a && git config user.email a@b.c
        mkdir book && echo text > book/page.md && git add . && git commit --quiet --message First
        git remote add origin ../hub.git && git push --quiet origin main
    """
    assert run(start, tmp_path).returncode == 0
    made = tmp_path / "runner/notebooks"
    (made / address.SOLUTIONS).mkdir(parents=True)
    for text in ("one", "two"):  # the second run replaces the first
        (made / "index.ipynb").write_text(text)
        (made / address.notebook("book/index", True)).write_text(text)
        assert run("git switch --quiet main && git branch -D notebooks || true", tmp_path / "clone").returncode == 0  # fmt: skip
        pushed = run(code, tmp_path / "clone", RUNNER_TEMP=str(tmp_path / "runner"), GITHUB_SHA="0123abc")
        assert pushed.returncode == 0, pushed.stderr
    seen = lambda command: run(f"git {command}", tmp_path / "hub.git").stdout.split()
    assert seen(f"rev-list --count {address.NOTEBOOKS_BRANCH}") == ["1"]
    assert seen(f"ls-tree -r --name-only {address.NOTEBOOKS_BRANCH}") == ["index.ipynb", "solutions/index.ipynb"]  # fmt: skip
    assert seen(f"show {address.NOTEBOOKS_BRANCH}:solutions/index.ipynb") == ["two"]


def test_a_tag_has_notebooks_of_its_own(monkeypatch):
    monkeypatch.setenv("GITHUB_REF_TYPE", "tag")
    monkeypatch.setenv("GITHUB_REF_NAME", "v1.2.3")
    code = script("release", "Make them the only commit of the tag's branch")
    named = code.partition("\n")[0].replace("$GITHUB_REF_NAME", "v1.2.3")
    assert named == f'branch="{address.notebooks_branch()}"'
    ours = script("publish", "Make them the only commit of their branch")
    assert code.partition("\n")[2].replace('"$branch"', address.NOTEBOOKS_BRANCH) == ours


@pytest.mark.parametrize(("open_issue", "expected"), [("", "issue create --title Broken"), ("7", "issue comment 7")])  # fmt: skip
def test_a_failure_is_reported_once(tmp_path, open_issue, expected):
    gh = tmp_path / "gh"
    gh.write_text(f'#!/bin/sh\n[ "$2" = list ] && echo "{open_issue}" || echo "$@"\n')
    gh.chmod(0o755)
    variables = {"GITHUB_SERVER_URL": "https://hub", "GITHUB_REPOSITORY": "a/b", "GITHUB_RUN_ID": "5"}
    done = run("bash .github/report Broken", ROOT, **variables, PATH=f"{tmp_path}{os.pathsep}{os.environ['PATH']}")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(expected)
    assert "https://hub/a/b/actions/runs/5" in done.stdout
