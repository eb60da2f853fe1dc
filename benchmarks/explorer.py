"""Measure the explorer in a browser: from a slider's event to the exact set that is redrawn.

Run it by `python benchmarks/explorer.py`, where Playwright and Chromium are installed. Memory is
that of the page's heap and of the server's processes, before and after many events.
"""

import argparse
import sys
from pathlib import Path
from statistics import median

from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.browser.chromium import CHROMIUM, FLAGS, MISSING, Server, children, settled, until

SCENES = {
    "rocking-block": "width",
    "compass-gait": "mu.A",
    "box-wall": "tilt",
    "ramone": "pitch_rate",
}
EVENTS = """([key, count, rate]) => new Promise((done) => {
  const slider = document.querySelector(`.control[data-key="${key}"] input[type=range]`);
  const [low, high] = [Number(slider.min), Number(slider.max)];
  slider.dispatchEvent(new PointerEvent("pointerdown", { bubbles: true }));
  let k = 0;
  const start = performance.now();
  const step = () => {
    while (k < count && performance.now() - start >= (1000 * k) / rate) {
      const share = 0.55 + 0.2 * Math.sin(k / 15);
      slider.value = String(low + share * (high - low));
      slider.dispatchEvent(new Event("input", { bubbles: true }));
      k += 1;
    }
    if (k < count) { setTimeout(step, 1); return; }
    slider.dispatchEvent(new PointerEvent("pointerup", { bubbles: true }));
    done();
  };
  step();
})"""


def resident(pid):
    """Return the memory of a process and of those that it started [MB]."""
    total = 0
    for each in children(pid):
        for line in Path(f"/proc/{each}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                total += int(line.split()[1])
    return total / 1024


def heap(page):
    """Return the size of the page's heap after collecting garbage [MB]."""
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    used = session.send("Runtime.getHeapUsage")["usedSize"]
    session.detach()
    return used / 1e6


def measure(page, scene, events, rate):
    """Print median and 95th percentile of the latency of a scene [ms]."""
    page.select_option("#subject", scene)
    settled(page)
    page.evaluate(EVENTS, [SCENES[scene], 30, rate])
    settled(page)
    before = page.evaluate("carom.latencies().length")
    page.evaluate(EVENTS, [SCENES[scene], events, rate])
    settled(page)
    found = sorted(page.evaluate(f"carom.latencies().slice({before})")[:events])
    late = found[int(0.95 * len(found))]
    # What is not counted was answered by samples or an outer set.
    share = f"{len(found)} of {events} events"
    print(f"{scene:14} {share}: median {median(found):.0f} ms, 95 % {late:.0f} ms", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=200)
    parser.add_argument("--rate", type=float, default=60.0)
    parser.add_argument("--memory", type=int, default=0, help="number of events, e.g. 10000")
    given = parser.parse_args()
    if CHROMIUM is None:
        sys.exit(MISSING)
    server = Server("rocking-block")
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            page = browser.new_page(viewport={"width": 1400, "height": 1000})
            page.goto(server.address)
            settled(page)
            for scene in SCENES:
                measure(page, scene, given.events, given.rate)
            if given.memory:
                page.select_option("#subject", "rocking-block")
                settled(page)
                for k in range(6):
                    if k:
                        page.evaluate(EVENTS, ["width", given.memory // 5, 2 * given.rate])
                        until(page, "carom.waiting() === 0")
                    where = (
                        f"page {heap(page):.1f} MB, server {resident(server.process.pid):.0f} MB"
                    )
                    print(f"{k * (given.memory // 5):6} events: {where}", flush=True)
            browser.close()
    finally:
        server.end()


if __name__ == "__main__":
    main()
