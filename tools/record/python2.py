"""Records what snippets of Python 2 print: tests/golden/python2/answers.txt.

    python2.7 tools/record/python2.py

Run it with Python 2.7 itself; nothing else is needed. The snippets are `tests/doors/python2/snippets.txt`.
"""

import os
import subprocess
import sys
import tempfile

WRITES = ("python2/answers.txt",)
TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests")


def main():
    with open(os.path.join(TESTS, "doors", "python2", "snippets.txt")) as file:
        parts = file.read().split("=== ")[1:]
    rows = []
    for part in parts:
        name, _, source = part.partition("\n")
        script = tempfile.NamedTemporaryFile(suffix=".py", delete=False)  # noqa: SIM115
        script.write(source)
        script.close()
        process = subprocess.Popen([sys.executable, script.name], stdout=subprocess.PIPE)
        answer, _ = process.communicate()
        os.remove(script.name)
        if process.returncode:
            raise SystemExit("{}: exit code {}".format(name, process.returncode))  # noqa: UP032
        rows.append("=== " + name + "\n" + answer)
    with open(os.path.join(TESTS, "golden", "python2", "answers.txt"), "w") as file:
        file.write("".join(rows))


if __name__ == "__main__":
    main()
