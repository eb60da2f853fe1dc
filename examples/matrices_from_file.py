"""Own matrices from a file: write an impact, read it back, and resolve it from the command line.

Run it as `python matrices_from_file.py [folder]`. It writes impact.json, for people and other
programs, and impact.npz, for NumPy.
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np

import carom

# What a program in any language may write: matrices as nested lists, by their names.
TEXT = """{
  "M": [[2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 0.2]],
  "J_n": [[0, 1, -0.2], [0, 1, 0.2]],
  "J_t": [[1, 0, 0.5], [1, 0, 0.5]],
  "mu": [0.5, 0.5],
  "v_pre": [0.5, -1.0, 0.0],
  "contacts": ["left", "right"]
}"""


def main(folder: str = ".") -> dict[str, np.ndarray]:
    text, archive = Path(folder) / "impact.json", Path(folder) / "impact.npz"
    text.write_text(TEXT, encoding="utf-8")

    # Input is checked as it is read: a wrong shape or a missing field is named, with the file.
    problem = carom.load(text)
    problem.save(archive)
    same = carom.load(archive)
    print(f"{text.name} and {archive.name} hold {problem.num_contacts} contacts: {same.contacts}")

    # In Python ...
    bounds = carom.Routh(num_samples=2000, seed=1).resolve(same).contact_bounds()

    # ... and in a shell: carom outcomes impact.npz --law routh --samples 2000 --seed 1 --json
    options = ["--law", "routh", "--samples", "2000", "--seed", "1", "--json"]
    command = [sys.executable, "-m", "carom", "outcomes", str(archive), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    contacts = json.loads(done.stdout)["laws"]["routh"]["contacts"]

    print("contact   lifts at [m/s]      from the command line")
    for name, (low, high) in zip(same.contacts, bounds[:, 0], strict=True):
        told = contacts[name]["normal"]
        print(f"{name:8} {low:z8.5f} … {high:.5f}   {told[0]:z8.5f} … {told[1]:.5f}")
    told = np.array([contacts[name]["normal"] for name in same.contacts])
    return {"here": bounds[:, 0], "told": told}


if __name__ == "__main__":
    main(*sys.argv[1:])
