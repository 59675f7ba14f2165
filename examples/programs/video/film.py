"""Renders a title card as a film with ffmpeg, and reports its progress."""

import json
import subprocess
import sys

inputs = json.load(sys.stdin)
seconds = float(inputs.get("seconds", 2))
source = f"color=c={inputs['colour']}:s=320x180:d={seconds}:r=25"
command = ["ffmpeg", "-v", "error", "-progress", "pipe:1", "-f", "lavfi", "-i", source]
with subprocess.Popen([*command, "-pix_fmt", "yuv420p", "film.mp4"], stdout=subprocess.PIPE, text=True) as ffmpeg:
    for line in ffmpeg.stdout:
        key, _, value = line.strip().partition("=")
        if key == "out_time_us" and value.isdigit():
            print(f"progress {min(1, int(value) / 1e6 / seconds):.2f}", flush=True)
sys.exit(ffmpeg.returncode)
