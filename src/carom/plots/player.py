"""A page that plays pictures in any browser, without a network."""

PAGE = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>carom</title>
<style>
  body { font: 14px sans-serif; margin: 1em auto; width: fit-content; }
  img { display: block; max-width: 100%; }
  div { display: flex; gap: 0.6em; align-items: center; }
  input { flex: 1; }
</style>
<img id="picture" alt="A motion through impacts">
<div>
  <button id="play">pause</button>
  <input id="place" type="range" min="0" value="0" aria-label="time">
</div>
<script>
  const pictures = PICTURES;
  const picture = document.getElementById("picture");
  const place = document.getElementById("place");
  const play = document.getElementById("play");
  let timer = null;
  function show(i) {
    place.value = i;
    picture.src = "data:image/png;base64," + pictures[i];
  }
  function run(on) {
    clearInterval(timer);
    timer = on ? setInterval(() => show((+place.value + 1) % pictures.length), INTERVAL) : null;
    play.textContent = on ? "pause" : "play";
  }
  place.max = pictures.length - 1;
  place.oninput = () => { run(false); show(+place.value); };
  play.onclick = () => run(timer === null);
  show(0);
  run(true);
</script>
</html>
"""
