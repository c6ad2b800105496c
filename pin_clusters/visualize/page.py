"""Writes an HTML file with a scene, its animation and a legend; the file needs no network connection."""

import base64
import html
import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources


@dataclass(frozen=True)
class Legend:
    """The text in the legend of a page.

    Attributes:
        title: Name of the robot.
        entries: Pairs of a colour and its meaning.
        notes: Additional sentences.

    Example:
        >>> import pin_clusters as pc
        >>> pc.visualize.MeshcatVisualizer(pc.load("four_bar")).legend().title
        'four_bar'
    """

    title: str
    entries: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()


_STYLE = """
html, body { margin: 0; height: 100%; }
#meshcat-pane { width: 100vw; height: 100vh; overflow: hidden; }
#legend { position: absolute; left: 12px; top: 12px; max-width: min(340px, 70vw); max-height: calc(100vh - 24px);
  overflow: auto; box-sizing: border-box; padding: 8px 12px; border-radius: 6px; color: #1d2229;
  background: rgba(255, 255, 255, 0.86); font: 13px/1.35 system-ui, sans-serif; }
#legend summary { font-weight: 600; font-size: 15px; cursor: pointer; }
#legend ul { list-style: none; margin: 6px 0 0; padding: 0; }
#legend li { display: flex; gap: 8px; margin: 2px 0; }
#legend i { flex: none; width: 14px; height: 14px; margin-top: 2px; border-radius: 3px; border: 1px solid #0003; }
#legend p { margin: 6px 0 0; color: #444c56; }
#player { position: absolute; left: 50%; bottom: 14px; transform: translateX(-50%); display: flex; gap: 10px;
  align-items: center; padding: 6px 12px; border-radius: 6px; background: rgba(255, 255, 255, 0.86);
  font: 13px system-ui, sans-serif; }
#player button { width: 5.2em; font: inherit; }
#player input { width: min(320px, 40vw); }
#player output { width: 4.5em; text-align: right; font-variant-numeric: tabular-nums; }
"""

# meshcat merges the parts of a COLLADA file, but it does not draw merged parts that have a list of materials.
_MATERIALS = """viewer.scene.traverse((node) => {
  if (Array.isArray(node.material)) { node.material = node.material.map((m) => Array.isArray(m) ? m[0] : m); }
});"""

_PLAYER = """
<div id="player"><button type="button">Pause</button><input type="range" min="0" max="1" step="0.001" value="0"
aria-label="time"><output>0.00 s</output></div>
<script>
(function () {
  const player = document.getElementById("player"), animator = viewer.animator;
  const [button, slider, output] = player.children;
  button.onclick = () => { if (animator.playing) { animator.pause(); } else { animator.play(); } };
  slider.oninput = () => { animator.pause(); animator.seek(slider.value * animator.duration);
    animator.display_progress(slider.value * animator.duration); };
  const show = () => {
    button.textContent = animator.playing ? "Pause" : "Play";
    if (document.activeElement !== slider || animator.playing) { slider.value = animator.time / animator.duration; }
    output.textContent = animator.time.toFixed(2) + " s";
    requestAnimationFrame(show);
  };
  show();
})();
</script>
"""


def write(commands: Sequence[bytes], legend: Legend, *, player: bool, camera: str = "") -> str:
    script = resources.files("meshcat").joinpath("viewer/dist/main.min.js").read_text(encoding="utf-8")
    blobs = json.dumps([base64.b64encode(c).decode("ascii") for c in commands])
    entries = "".join(
        f'<li><i style="background:{html.escape(color)}"></i><span>{html.escape(text)}</span></li>'
        for color, text in legend.entries
    )
    notes = "".join(f"<p>{html.escape(note)}</p>" for note in legend.notes)
    title = html.escape(legend.title)
    return f"""<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><link rel="icon" href="data:,"><style>{_STYLE}</style></head>
<body>
<div id="meshcat-pane"></div>
<details id="legend" open><summary>{title}</summary><ul>{entries}</ul>{notes}</details>
<script>{script}</script>
<script>
var viewer = new MeshCat.Viewer(document.getElementById("meshcat-pane"));
for (const blob of {blobs}) {{
  viewer.handle_command_bytearray(Uint8Array.from(atob(blob), (c) => c.charCodeAt(0)));
}}
{_MATERIALS}
{camera}
if (innerWidth < 700) {{ document.getElementById("legend").open = false; }}
</script>
{_PLAYER if player else ""}
</body>
</html>
"""
