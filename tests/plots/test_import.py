import subprocess
import sys


def test_without_matplotlib_names_the_extra():
    code = (
        "import sys; sys.modules['matplotlib'] = None; import carom\n"
        "try: carom.plots\n"
        "except carom.MissingExtra as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "pip install matplotlib" in done.stdout
    assert 'pip install "carom[plots]"' in done.stdout
